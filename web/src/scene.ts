// What is drawn: the surface, its edges, and what tools lay over it. Knows no question and no answer.
import {
  AmbientLight, BufferAttribute, BufferGeometry, CanvasTexture, Color, DirectionalLight, DoubleSide, Group, InstancedMesh,
  Line, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, CylinderGeometry, ConeGeometry,
  OrthographicCamera, PerspectiveCamera, Plane, Points, PointsMaterial, Raycaster, SRGBColorSpace, Scene, Sprite, SpriteMaterial, Vector2, Vector3,
  WebGLRenderer,
} from "three";
import type { Object3D } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { LineSegments2 } from "three/addons/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/addons/lines/LineSegmentsGeometry.js";
import type { Surface } from "./geometry";

export interface Hit {
  point: Vector3;
  face: number;
}

export interface AgentMark {
  at: Vector3;
  heading: Vector3;
  radius: number;
  height: number;
  colour: Color;
}

const LIFT = 0.0025; // of the view's size: overlays float so far above the surface

/// Of a face, by Newell's method: right where corners lie on one line too.
function faceNormal(positions: Float32Array, first: number, end: number): Vector3 {
  const normal = new Vector3();
  for (let i = first; i < end; i++) {
    const [a, b] = [3 * i, 3 * (i + 1 < end ? i + 1 : first)];
    normal.x += (positions[a + 1] - positions[b + 1]) * (positions[a + 2] + positions[b + 2]);
    normal.y += (positions[a + 2] - positions[b + 2]) * (positions[a] + positions[b]);
    normal.z += (positions[a] - positions[b]) * (positions[a + 1] + positions[b + 1]);
  }
  return normal.normalize();
}

export class View {
  readonly renderer: WebGLRenderer;
  readonly overlay = new Group();
  readonly agents = new Group();
  onDraw: (() => void) | null = null;
  frames = 0;
  frameMs = 0;
  private readonly scene = new Scene();
  private readonly surfaceGroup = new Group();
  private readonly orbit = new PerspectiveCamera(50, 1, 0.1, 10000);
  private readonly plan = new OrthographicCamera(-1, 1, 1, -1, -10000, 10000);
  private camera: PerspectiveCamera | OrthographicCamera = this.orbit;
  private controls: OrbitControls;
  private readonly clip = new Plane(new Vector3(0, -1, 0), Infinity);
  private surface: Surface | null = null;
  private mesh: Mesh<BufferGeometry, MeshBasicMaterial> | null = null;
  private lines: LineMaterial[] = [];
  private wanted = false;
  private readonly size = new Vector2(1, 1);
  private reach = 10; // half the diagonal of what is shown

  constructor(private readonly host: HTMLElement) {
    this.renderer = new WebGLRenderer({ antialias: true, powerPreference: "high-performance" });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.localClippingEnabled = true;
    this.renderer.setClearColor(0x10151b);
    this.renderer.domElement.setAttribute("aria-label", "The mesh. Drag to turn, right drag to move, wheel to zoom; click to set a point.");
    this.renderer.domElement.tabIndex = 0;
    host.append(this.renderer.domElement);
    this.scene.add(this.surfaceGroup, this.overlay, this.agents, new AmbientLight(0xffffff, 1.6));
    const sun = new DirectionalLight(0xffffff, 1.6);
    sun.position.set(0.4, 1, 0.3);
    this.scene.add(sun);
    this.controls = this.makeControls();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  // ---- drawing ----

  /// Asks for a picture soon; any number of times for one.
  draw(): void {
    if (this.wanted) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      const began = performance.now();
      this.controls.update();
      this.renderer.render(this.scene, this.camera);
      this.frameMs = performance.now() - began;
      this.frames++;
      this.onDraw?.();
    });
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    this.size.set(width, height);
    this.renderer.setSize(width, height);
    this.orbit.aspect = width / height;
    this.fitPlan();
    this.orbit.updateProjectionMatrix();
    for (const line of this.lines) line.resolution.copy(this.size);
    this.draw();
  }

  private fitPlan(): void {
    const half = this.reach * 1.05;
    const aspect = this.size.x / this.size.y;
    this.plan.left = -half * Math.max(aspect, 1);
    this.plan.right = -this.plan.left;
    this.plan.top = half * Math.max(1, 1 / aspect);
    this.plan.bottom = -this.plan.top;
    this.plan.updateProjectionMatrix();
  }

  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.renderer.domElement);
    controls.addEventListener("change", () => this.draw());
    controls.enableRotate = this.camera === this.orbit;
    controls.screenSpacePanning = this.camera === this.plan;
    controls.maxPolarAngle = Math.PI * 0.495;
    return controls;
  }

  // ---- the camera ----

  get isPlan(): boolean {
    return this.camera === this.plan;
  }

  setPlan(plan: boolean): void {
    if (plan === this.isPlan) return;
    const target = this.controls.target.clone();
    this.controls.dispose();
    this.camera = plan ? this.plan : this.orbit;
    this.controls = this.makeControls();
    this.controls.target.copy(target);
    if (plan) {
      this.plan.position.set(target.x, target.y + 1000, target.z);
      this.plan.up.set(0, 0, -1);
      this.plan.lookAt(target);
    }
    this.draw();
  }

  /// Looks at the whole surface.
  home(): void {
    if (!this.surface) return;
    const { low, high } = this.surface;
    const middle = low.clone().add(high).multiplyScalar(0.5);
    this.reach = Math.max(high.distanceTo(low) / 2, 1);
    this.orbit.near = this.reach / 500;
    this.orbit.far = this.reach * 50;
    const away = new Vector3(0.3, 1, 0.85).normalize();
    this.orbit.position.copy(middle).add(away);
    this.orbit.lookAt(middle);
    this.orbit.updateMatrixWorld();
    this.orbit.position.copy(middle).addScaledVector(away, this.fitting(low, high, middle));
    this.orbit.updateProjectionMatrix();
    this.plan.zoom = 1;
    this.plan.position.set(middle.x, middle.y + 1000, middle.z);
    this.fitPlan();
    this.controls.target.copy(middle);
    this.draw();
  }

  /// How far back the camera must stand, looking at the middle, to see all of a box with some room round it.
  private fitting(low: Vector3, high: Vector3, middle: Vector3): number {
    const [right, up, back] = [new Vector3(), new Vector3(), new Vector3()];
    this.orbit.matrixWorld.extractBasis(right, up, back);
    const tall = Math.tan(((this.orbit.fov / 2) * Math.PI) / 180);
    let distance = 1;
    for (let corner = 0; corner < 8; corner++) {
      const p = new Vector3(corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z).sub(middle);
      const needed = Math.max(Math.abs(p.dot(right)) / (tall * this.orbit.aspect), Math.abs(p.dot(up)) / tall) * 1.08;
      distance = Math.max(distance, needed + p.dot(back));
    }
    return distance;
  }

  /// Looks at a place from near.
  flyTo(place: Vector3, distance = this.reach * 0.25): void {
    const away = this.camera.position.clone().sub(this.controls.target).normalize();
    this.controls.target.copy(place);
    if (this.isPlan) {
      this.plan.position.set(place.x, place.y + 1000, place.z);
      this.plan.zoom = Math.max(this.reach / Math.max(distance, 0.5), 1);
      this.plan.updateProjectionMatrix();
    } else {
      this.orbit.position.copy(place).addScaledVector(away, Math.max(distance, 2));
    }
    this.draw();
  }

  cameraState(): number[] {
    const zoom = this.isPlan ? this.plan.zoom : 0;
    return [...this.camera.position.toArray(), ...this.controls.target.toArray(), zoom].map((n) => Number(n.toFixed(3)));
  }

  setCameraState(state: number[]): void {
    if (state.length !== 7 || !state.every(Number.isFinite)) return;
    this.setPlan(state[6] > 0);
    this.camera.position.fromArray(state, 0);
    this.controls.target.fromArray(state, 3);
    if (this.isPlan) {
      this.plan.zoom = state[6];
      this.plan.updateProjectionMatrix();
    }
    this.draw();
  }

  // ---- the surface ----

  setSurface(surface: Surface | null): void {
    this.release(this.surfaceGroup);
    this.surface = surface;
    this.mesh = null;
    if (surface) {
      const geometry = new BufferGeometry();
      geometry.setAttribute("position", new BufferAttribute(surface.positions, 3));
      geometry.setAttribute("color", new BufferAttribute(new Uint8Array(surface.positions.length), 3, true));
      geometry.setIndex(new BufferAttribute(surface.indices, 1));
      geometry.computeBoundingSphere();
      const material = new MeshBasicMaterial({
        vertexColors: true, side: DoubleSide, polygonOffset: true, polygonOffsetFactor: 1.5, polygonOffsetUnits: 2,
        clippingPlanes: [this.clip],
      });
      this.mesh = new Mesh(geometry, material);
      this.surfaceGroup.add(this.mesh, this.edgeLines(surface.portals), this.wallLines(surface.walls));
    }
    this.draw();
  }

  private edgeLines(ends: Float32Array): LineSegments {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(ends, 3));
    const material = new LineBasicMaterial({ color: 0x0b0f14, transparent: true, opacity: 0.28, clippingPlanes: [this.clip] });
    const lines = new LineSegments(geometry, material);
    lines.name = "portals";
    return lines;
  }

  private wallLines(ends: Float32Array): LineSegments2 {
    const geometry = new LineSegmentsGeometry();
    geometry.setPositions(ends);
    const material = this.wide(0xd5dde5, 1.3);
    const lines = new LineSegments2(geometry, material);
    lines.name = "walls";
    return lines;
  }

  setVisible(name: "portals" | "walls", on: boolean): void {
    const object = this.surfaceGroup.getObjectByName(name);
    if (object) object.visible = on;
    this.draw();
  }

  /// Colours every face, shaded by its slope.
  paint(colour: (face: number) => Color): void {
    if (!this.mesh || !this.surface) return;
    const { positions, faceFirst } = this.surface;
    const attribute = this.mesh.geometry.getAttribute("color") as BufferAttribute;
    const array = attribute.array as Uint8Array;
    const light = new Vector3(0.35, 0.9, 0.25).normalize();
    for (let face = 0; face + 1 < faceFirst.length; face++) {
      const first = faceFirst[face];
      const end = faceFirst[face + 1];
      if (end - first < 3) continue;
      const slope = Math.abs(faceNormal(positions, first, end).dot(light));
      const paint = colour(face).clone().multiplyScalar(255 * (0.12 + 0.7 * slope * slope));
      for (let corner = first; corner < end; corner++) paint.toArray(array, 3 * corner);
    }
    attribute.needsUpdate = true;
    this.draw();
  }

  /// Hides everything above a height.
  setClip(height: number): void {
    this.clip.constant = height;
    this.draw();
  }

  // ---- pointing ----

  private ray(clientX: number, clientY: number): Raycaster {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    const caster = new Raycaster();
    caster.setFromCamera(at, this.camera);
    return caster;
  }

  /// The visible surface under the pointer.
  hit(clientX: number, clientY: number): Hit | null {
    if (!this.mesh || !this.surface) return null;
    for (const hit of this.ray(clientX, clientY).intersectObject(this.mesh)) {
      if (hit.point.y <= this.clip.constant && hit.faceIndex != null) {
        return { point: hit.point, face: this.surface.triangleFace[hit.faceIndex] };
      }
    }
    return null;
  }

  /// Where the pointer meets the level plane at a height: for points beside the mesh.
  onPlane(clientX: number, clientY: number, height: number): Vector3 | null {
    return this.ray(clientX, clientY).ray.intersectPlane(new Plane(new Vector3(0, 1, 0), -height), new Vector3());
  }

  /// The pointer's ray in space, begun where it comes below the clip.
  spaceRay(clientX: number, clientY: number): { origin: Vector3; direction: Vector3 } {
    const { origin, direction } = this.ray(clientX, clientY).ray;
    if (Number.isFinite(this.clip.constant) && origin.y > this.clip.constant && direction.y < 0) {
      origin.addScaledVector(direction, (this.clip.constant - origin.y) / direction.y);
    }
    return { origin: origin.clone(), direction: direction.clone() };
  }

  /// A place in pixels of the page.
  toPage(place: Vector3): Vector2 {
    const box = this.renderer.domElement.getBoundingClientRect();
    const p = place.clone().project(this.camera);
    return new Vector2(box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height);
  }

  set dragging(on: boolean) {
    this.controls.enabled = !on;
  }

  // ---- overlays ----

  private release(group: Group): void {
    group.traverse((object: Object3D) => {
      const drawn = object as Mesh;
      drawn.geometry?.dispose();
      for (const material of [drawn.material ?? []].flat()) {
        (material as SpriteMaterial).map?.dispose();
        material.dispose();
        this.lines = this.lines.filter((line) => (line as unknown) !== material);
      }
    });
    group.clear();
  }

  clear(group: Group = this.overlay): void {
    this.release(group);
    this.draw();
  }

  private wide(colour: number | string, width: number, over = false): LineMaterial {
    const material = new LineMaterial({ color: new Color(colour).getHex(), linewidth: width });
    material.resolution.copy(this.size);
    material.clipping = true;
    material.clippingPlanes = [this.clip];
    if (over) {
      material.depthTest = false;
      material.transparent = true;
      material.clippingPlanes = [];
    }
    this.lines.push(material);
    return material;
  }

  private lifted(places: Vector3[]): Vector3[] {
    return places.map((p) => p.clone().setY(p.y + LIFT * this.reach));
  }

  /// A polyline over everything.
  path(places: Vector3[], colour: string, width = 3, group: Group = this.overlay): void {
    if (places.length < 2) return;
    const geometry = new LineGeometry();
    geometry.setPositions(this.lifted(places).flatMap((p) => p.toArray()));
    // A dark seam keeps it apart from what it crosses.
    const seam = new Line2(geometry, this.wide(0x10151b, width + 3.5, true));
    const line = new Line2(geometry, this.wide(colour, width, true));
    line.name = "path";
    seam.renderOrder = 2;
    line.renderOrder = 2.5;
    group.add(seam, line);
    this.draw();
  }

  /// Thin line pieces, pair by pair.
  pieces(ends: Vector3[], colour: string, opacity = 0.8, group: Group = this.overlay): void {
    const geometry = new BufferGeometry().setFromPoints(this.lifted(ends));
    const lines = new LineSegments(geometry, new LineBasicMaterial({ color: colour, transparent: true, opacity, depthTest: false }));
    lines.renderOrder = 1;
    group.add(lines);
    this.draw();
  }

  ring(places: Vector3[], colour: string, group: Group = this.overlay): void {
    if (places.length < 2) return;
    this.path([...places, places[0]], colour, 2.5, group);
  }

  /// A dot of a size that does not depend on the distance.
  dot(place: Vector3, colour: string, pixels = 14, label = "", group: Group = this.overlay): void {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.beginPath();
    pen.arc(32, 32, 26, 0, 2 * Math.PI);
    pen.fillStyle = colour;
    pen.fill();
    pen.lineWidth = 6;
    pen.strokeStyle = "#10151b";
    pen.stroke();
    if (label) {
      pen.fillStyle = "#10151b";
      pen.font = "bold 32px sans-serif";
      pen.textAlign = "center";
      pen.textBaseline = "middle";
      pen.fillText(label, 32, 34);
    }
    const picture = new CanvasTexture(canvas);
    picture.colorSpace = SRGBColorSpace;
    const sprite = new Sprite(new SpriteMaterial({ map: picture, depthTest: false, sizeAttenuation: false, transparent: true }));
    const share = this.isPlan ? ((this.plan.top - this.plan.bottom) / this.plan.zoom / this.size.y) * pixels : (pixels / this.size.y) * 0.93;
    sprite.scale.set(share, share, 1);
    sprite.position.copy(place);
    sprite.renderOrder = 3;
    group.add(sprite);
    this.draw();
  }

  /// Faces filled once more, over the surface's own colour.
  faces(faces: Iterable<number>, colour: (face: number) => Color, opacity = 0.55, group: Group = this.overlay): void {
    if (!this.surface) return;
    const { positions, faceFirst } = this.surface;
    const places: number[] = [];
    const colours: number[] = [];
    const lift = LIFT * this.reach * 0.4;
    for (const face of faces) {
      const tint = colour(face);
      for (let corner = faceFirst[face] + 2; corner < faceFirst[face + 1]; corner++) {
        for (const k of [faceFirst[face], corner - 1, corner]) {
          places.push(positions[3 * k], positions[3 * k + 1] + lift, positions[3 * k + 2]);
          colours.push(tint.r, tint.g, tint.b);
        }
      }
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(places), 3));
    geometry.setAttribute("color", new BufferAttribute(new Float32Array(colours), 3));
    const material = new MeshBasicMaterial({ vertexColors: true, transparent: true, opacity, side: DoubleSide, depthWrite: false, clippingPlanes: [this.clip] });
    group.add(new Mesh(geometry, material));
    this.draw();
  }

  /// An upright prism over a ground outline.
  prism(outline: Vector3[], height: number, colour: string, group: Group = this.overlay): void {
    const places: number[] = [];
    const top = outline.map((p) => p.clone().setY(p.y + height));
    outline.forEach((p, i) => {
      const j = (i + 1) % outline.length;
      for (const q of [p, outline[j], top[j], p, top[j], top[i]]) places.push(...q.toArray());
      if (i >= 2) for (const q of [top[0], top[i - 1], top[i]]) places.push(...q.toArray());
    });
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(places), 3));
    geometry.computeVertexNormals();
    const material = new MeshLambertMaterial({ color: colour, transparent: true, opacity: 0.7, side: DoubleSide, clippingPlanes: [this.clip] });
    group.add(new Mesh(geometry, material));
    this.ring(top, colour, group);
  }

  /// An arc from one place to another, for links.
  arc(from: Vector3, to: Vector3, colour: string, group: Group = this.overlay): void {
    const rise = Math.max(from.distanceTo(to) * 0.25, LIFT * this.reach);
    const places = Array.from({ length: 25 }, (_, i) => {
      const t = i / 24;
      const p = from.clone().lerp(to, t);
      p.y += 4 * rise * t * (1 - t);
      return p;
    });
    this.path(places, colour, 3, group);
  }

  /// Dots of a few pixels, so that small agents are seen from far.
  private specks(marks: AgentMark[]): Points {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(marks.flatMap((m) => [m.at.x, m.at.y + m.height, m.at.z])), 3));
    geometry.setAttribute("color", new BufferAttribute(new Float32Array(marks.flatMap((m) => m.colour.toArray())), 3));
    return new Points(geometry, new PointsMaterial({ size: 6 * this.renderer.getPixelRatio(), sizeAttenuation: false, vertexColors: true }));
  }

  /// All agents in three draw calls: a body, a nose that shows where it looks, and a dot.
  showAgents(marks: AgentMark[]): void {
    this.release(this.agents);
    if (marks.length) {
      const bodies = new InstancedMesh(new CylinderGeometry(1, 1, 1, 16), new MeshLambertMaterial(), marks.length);
      const noses = new InstancedMesh(new ConeGeometry(0.5, 1, 8), new MeshLambertMaterial(), marks.length);
      const matrix = new Matrix4();
      marks.forEach((mark, i) => {
        matrix.makeScale(mark.radius, mark.height, mark.radius).setPosition(mark.at.x, mark.at.y + mark.height / 2, mark.at.z);
        bodies.setMatrixAt(i, matrix);
        bodies.setColorAt(i, mark.colour);
        const heading = mark.heading.lengthSq() > 1e-9 ? mark.heading.clone().setY(0).normalize() : new Vector3(0, 0, 1);
        const side = new Vector3(heading.z, 0, -heading.x);
        matrix.makeBasis(side.multiplyScalar(mark.radius), heading.clone().multiplyScalar(mark.radius), new Vector3(0, -mark.radius, 0));
        matrix.setPosition(mark.at.x + heading.x * mark.radius, mark.at.y + mark.height, mark.at.z + heading.z * mark.radius);
        noses.setMatrixAt(i, matrix);
        noses.setColorAt(i, mark.colour);
      });
      this.agents.add(bodies, noses, this.specks(marks));
    }
    this.draw();
  }

  /// A thin line that is cheap to replace often.
  thread(places: Vector3[], colour: string, group: Group): void {
    group.add(new Line(new BufferGeometry().setFromPoints(this.lifted(places)), new LineBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.6 })));
  }
}
