-- Removes what is at a path of a root and below it. KEYS: collections, expiry, change counters of the root.
-- ARGV: nonce, where to begin, where to end.

local removed, dues = {}, {}
for _, member in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[2], '(' .. ARGV[3])) do
  local cut = string.find(member, '\0\0', 1, true)
  local path, key = string.sub(member, 1, cut - 1), string.sub(member, cut + 2)
  local kind = string.match(path, '[^%z]*$')
  removed[#removed + 1] = { kind, tonumber(redis.call('HGET', key, 'count') or 0) }
  dues[key] = true
  redis.call('UNLINK', key, key .. ':seqs', key .. ':times')
  redis.call('ZREM', KEYS[1], member)
  redis.call('HSET', KEYS[3], 'all', ARGV[1], ':' .. kind, ARGV[1])
end
if #removed > 0 then
  local gone = {}
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    if dues[string.match(member, '^[^%z]*')] then gone[#gone + 1] = member end
  end
  call('ZREM', KEYS[2], gone)
end
-- Nothing of a root that holds nothing stays behind, not even its name.
local is_empty = redis.call('EXISTS', KEYS[1]) == 0
if is_empty then redis.call('DEL', KEYS[2], KEYS[3]) end
return { removed, is_empty and 1 or 0 }
