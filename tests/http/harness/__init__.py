"""What the HTTP tests share: a server under test, a client on bare sockets, small meshes."""
