-- Removes documents of a root that expired, so many at a time. KEYS: collections, expiry, change counters of the root.
-- ARGV: nonce, now, limit. Answers how many, and when the next one expires.

local expired = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])
local collections = {}
for _, member in ipairs(expired) do
  local key = string.match(member, '^[^%z]*')
  local id = string.sub(member, #key + 2)
  local c, record = collections[key] or load(key), redis.call('HGET', key, ':' .. id)
  if c and record then
    local seq = read(record).seq
    if c.indexed then
      redis.call('ZREM', c.seqs, id)
      redis.call('ZREM', c.times, place(seq, id))
    end
    redis.call('HDEL', key, ':' .. id, '#' .. text(seq))
    c.count = c.count - 1
    collections[key] = c
  end
end
for key, c in pairs(collections) do
  redis.call('HSET', key, 'count', text(c.count), 'epoch', ARGV[1])
  redis.call('HSET', KEYS[3], 'all', ARGV[1], ':' .. string.match(c.path, '[^%z]*$'), ARGV[1])
  settle(c)
end
if #expired > 0 then call('ZREM', KEYS[2], expired) end
return { #expired, redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] or '' }
