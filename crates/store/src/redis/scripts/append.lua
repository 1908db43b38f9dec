-- New turns at the end of one collection: what `write.lua` would do with them, and nothing else.
-- KEYS: collections, expiry, change counters of the root, then the collection's own three.
-- ARGV: nonce, path, kind, if_seq, then id, time, expiry and value of each document.

local nonce, if_seq = ARGV[1], ARGV[4]
local meta = redis.call('HMGET', KEYS[4], 'last', 'epoch', 'count', 'newest', 'indexed')
local last, newest, indexed = tonumber(meta[1] or 0), tonumber(meta[4] or '-inf') or -math.huge, meta[5]
if if_seq ~= '' and tonumber(if_seq) ~= last then return { 'stale', if_seq, string.format('%.0f', last) } end

local fields, seqs, times, dues = {}, {}, {}, {}
for at = 5, #ARGV, 4 do
  last = last + 1
  local id, time, expires, seq, n = ARGV[at], ARGV[at + 1], ARGV[at + 2], string.format('%.0f', last), #fields
  fields[n + 1], fields[n + 2] = ':' .. id, seq .. ' 1 ' .. time .. ' ' .. expires .. '\n' .. ARGV[at + 3]
  if indexed then
    seqs[#seqs + 1], seqs[#seqs + 2] = seq, id
    times[#times + 1], times[#times + 2] = time, string.format('%016.0f', last) .. id
  else
    -- Times no longer rise with seqs: the long way makes an index.
    if tonumber(time) < newest then return { 'long' } end
    newest = tonumber(time)
    fields[n + 3], fields[n + 4] = '#' .. seq, id
  end
  if expires ~= '' then dues[#dues + 1], dues[#dues + 2] = expires, KEYS[4] .. '\0' .. id end
end

local seq, epoch = string.format('%.0f', last), meta[2] or nonce
if not meta[1] then
  redis.call('ZADD', KEYS[1], 0, ARGV[2] .. '\0\0' .. KEYS[4])
  redis.call('HSET', KEYS[4], 'epoch', epoch, 'path', ARGV[2], 'born', nonce, 'first', 1)
end
local count = string.format('%.0f', tonumber(meta[3] or 0) + (#ARGV - 4) / 4)
redis.call('HSET', KEYS[4], 'last', seq, 'count', count, 'newest', ARGV[#ARGV - 2], unpack(fields))
if indexed then
  redis.call('ZADD', KEYS[5], unpack(seqs))
  redis.call('ZADD', KEYS[6], unpack(times))
end
if #dues > 0 then redis.call('ZADD', KEYS[2], unpack(dues)) end
redis.call('HSET', KEYS[3], 'all', nonce, ':' .. ARGV[3], nonce)
-- Asked every time: whoever wrote here first may have ended before the root was listed.
local unlisted = ''
if redis.call('HEXISTS', KEYS[3], 'listed') == 0 then
  redis.call('HSETNX', KEYS[3], 'born', nonce)
  unlisted = redis.call('HGET', KEYS[3], 'born')
end
return { 'ok', unlisted, seq, epoch }
