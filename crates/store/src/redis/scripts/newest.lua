-- The newest turns of a range of times and seqs, and what is known of the collection at the same moment.
-- KEYS: the collection's own three. ARGV: begin, end, first seq, last seq, limit.

local c = load(KEYS[1])
if not c then return {} end
local begin, finish, limit = ARGV[1], ARGV[2], tonumber(ARGV[5])
local first, last = tonumber(ARGV[3]), math.min(tonumber(ARGV[4]), c.last)
local ids, more = {}, 0
if not c.indexed and begin == '' and finish == '' then
  -- Times rise with seqs: those with the highest seqs are the newest.
  local low, at = math.max(first, c.first), last
  while #ids <= limit and at >= low do
    local from = math.max(at - math.min(limit - #ids, 999), low)
    local found = named(c, from, at)
    for n = #found, 1, -1 do ids[#ids + 1] = found[n] end
    at = from - 1
  end
else
  if not c.indexed then index(c) end
  local low = begin ~= '' and redis.call('ZCOUNT', KEYS[3], '-inf', begin) or 0
  local at = (finish ~= '' and redis.call('ZCOUNT', KEYS[3], '-inf', finish) or redis.call('ZCARD', KEYS[3])) - 1
  while #ids <= limit and at >= low do
    local from = math.max(at - 999, low)
    local members = redis.call('ZRANGE', KEYS[3], from, at)
    for n = #members, 1, -1 do
      local seq = tonumber(string.sub(members[n], 1, 16))
      if seq >= first and seq <= last and #ids <= limit then ids[#ids + 1] = string.sub(members[n], 17) end
    end
    at = from - 1
  end
end
if #ids > limit then
  ids[#ids], more = nil, 1
end
return { text(c.last), c.epoch, c.count, more, c.born, ids, records(KEYS[1], ids) }
