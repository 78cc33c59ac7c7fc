-- The requests of one wrk run, and its result as a line of JSON.
-- Arguments: method, number of distinct keys in bodies (0: no body), "random" or "turn", seed, seconds of ramp (not counted), connections.
local ffi = require('ffi')

ffi.cdef [[
  typedef struct { long seconds; long nanoseconds; } moment;
  int clock_gettime(int clock, moment *now);
]]
local MONOTONIC = ffi.os == 'OSX' and 6 or 1
local moment = ffi.new('moment')

local function now()
  ffi.C.clock_gettime(MONOTONIC, moment)
  return tonumber(moment.seconds) + tonumber(moment.nanoseconds) / 1e9
end

local function body(key)
  return '{"type":"page_view","key":"' .. key .. '"}'
end

-- A browser's, because real hits come from browsers and the bot check has to do its work.
local USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

local thread

function setup(only)
  thread = only
end

function init(args)
  local method, keys, order, seed = args[1], tonumber(args[2]), args[3], tonumber(args[4])
  ramp, connections = tonumber(args[5]), tonumber(args[6])
  wrk.method = method
  wrk.headers['User-Agent'] = USER_AGENT
  requests = {}
  if keys == 0 then
    requests[1] = wrk.format()
  else
    wrk.headers['Content-Type'] = 'application/json'
    for i = 1, keys do requests[i] = wrk.format(nil, nil, nil, body(keys == 1 and '/blog/hello' or '/page/' .. i)) end
  end
  inTurn = order == 'turn'
  turn = 0
  math.randomseed(seed)
  rampEnd = nil
  sentInRamp = 0
end

function request()
  local time = now()
  rampEnd = rampEnd or time + ramp
  if time < rampEnd then sentInRamp = sentInRamp + 1 end
  if inTurn then
    turn = turn % #requests + 1
    return requests[turn]
  end
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local errors = summary.errors
  local ramp = thread:get('ramp')
  -- A connection sends its next request after the last response, so every request but its first implies one response.
  local answeredInRamp = math.max(0, thread:get('sentInRamp') - thread:get('connections'))
  local perSecond = (summary.requests - answeredInRamp) / (summary.duration / 1e6 - ramp)
  io.write(string.format(
    '\nRESULT {"answered":%d,"perSecond":%.3f,"p50Ms":%.3f,"p99Ms":%.3f,' ..
    '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\n',
    summary.requests, perSecond, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout
  ))
end
