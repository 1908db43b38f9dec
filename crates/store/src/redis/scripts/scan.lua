-- Documents by time, then seq; whoever asks for them has the collection indexed. KEYS: the collection's own three. ARGV: begin, end, cursor's time, its seq, limit.

local c = load(KEYS[1])
if not c then return { 0, {}, {} } end
if not c.indexed then index(c) end
local begin, finish, after_time, after_seq, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local first = begin ~= '' and redis.call('ZCOUNT', KEYS[3], '-inf', begin) or 0
if after_time ~= '' then
  -- Within those of the cursor's time, the first with a later seq.
  local low = redis.call('ZCOUNT', KEYS[3], '-inf', '(' .. after_time)
  local high = redis.call('ZCOUNT', KEYS[3], '-inf', after_time)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local seq = tonumber(string.sub(redis.call('ZRANGE', KEYS[3], middle, middle)[1], 1, 16))
    if seq > tonumber(after_seq) then high = middle else low = middle + 1 end
  end
  first = math.max(first, low)
end
local stop = finish ~= '' and redis.call('ZCOUNT', KEYS[3], '-inf', finish) or redis.call('ZCARD', KEYS[3])
local last = math.min(first + limit, stop) - 1
local ids = {}
if last >= first then
  for _, member in ipairs(redis.call('ZRANGE', KEYS[3], first, last)) do ids[#ids + 1] = string.sub(member, 17) end
end
return { stop > first + limit and 1 or 0, ids, records(KEYS[1], ids) }
