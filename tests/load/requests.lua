-- wrk script: asks the questions of a file in turn and prints what came of it as one line of JSON.
-- Arguments: path, file with one JSON body on each line. Without arguments: GET of the URL as it is.
local questions, at = {}, 0

function init(args)
   if args[1] then
      for body in io.lines(args[2]) do
         questions[#questions + 1] = wrk.format("POST", args[1], {["Content-Type"] = "application/json"}, body)
      end
   else
      questions[1] = wrk.format("GET")
   end
end

function request()
   at = at % #questions + 1
   return questions[at]
end

function done(summary, latency)
   local e = summary.errors
   io.write(string.format(
      'RESULT {"requests":%d,"seconds":%.6f,"bytes":%d,"p50_us":%d,"p99_us":%d,"max_us":%d,"not_200":%d,"broken":%d}\n',
      summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50), latency:percentile(99), latency.max,
      e.status, e.connect + e.read + e.write + e.timeout))
end
