-- A collection is a hash: `last`, `first`, `count`, `newest`, `epoch`, `born`, `path`, and a record for each `:id`.
-- While times rise with seqs and few seqs are without a document, `#seq` names the id there. From then on it is
-- indexed: `:seqs` has the ids by seq, and `:times` has them by time.

local function text(number) return string.format('%.0f', number) end

-- A record: seq, version, create time and expiry (or nothing) in its first line, and behind that the value as it came.
local function read(record)
  local cut = string.find(record, '\n', 1, true)
  local seq, version, time, expires = string.match(string.sub(record, 1, cut - 1), '^(%d+) (%d+) (%S+) (%S*)$')
  return {
    seq = tonumber(seq), version = tonumber(version), time = time, expires = expires,
    value = string.sub(record, cut + 1),
  }
end

local function written(r)
  return text(r.seq) .. ' ' .. text(r.version) .. ' ' .. r.time .. ' ' .. r.expires .. '\n' .. r.value
end

-- What stands in `:times`: members of one time sort by it.
local function place(seq, id) return string.format('%016.0f', seq) .. id end

-- What stands in `:expiry`; no key holds a zero byte.
local function due(key, id) return key .. '\0' .. id end

-- A command over more words than one call takes.
local function call(command, key, words)
  for first = 1, #words, 2000 do
    redis.call(command, key, unpack(words, first, math.min(first + 1999, #words)))
  end
end

-- A collection as it is stored, or nothing.
local function load(key)
  local meta = redis.call('HMGET', key, 'last', 'first', 'count', 'newest', 'epoch', 'born', 'indexed', 'path')
  if not meta[1] then return nil end
  return {
    key = key, seqs = key .. ':seqs', times = key .. ':times', last = tonumber(meta[1]), first = tonumber(meta[2]),
    count = tonumber(meta[3]), newest = meta[4], epoch = meta[5], born = meta[6], indexed = meta[7], path = meta[8],
  }
end

-- The ids of a run of seqs, where the collection is not indexed.
local function named(c, first, last)
  local fields = {}
  for seq = first, last do fields[#fields + 1] = '#' .. text(seq) end
  local ids = {}
  if #fields > 0 then
    for _, id in ipairs(redis.call('HMGET', c.key, unpack(fields))) do
      if id then ids[#ids + 1] = id end
    end
  end
  return ids
end

local function between(c, first, last)
  if c.indexed then return redis.call('ZRANGEBYSCORE', c.seqs, text(first), text(last)) end
  local ids = {}
  last = math.min(last, c.last)
  for from = math.max(first, c.first), last, 1000 do
    for _, id in ipairs(named(c, from, math.min(from + 999, last))) do ids[#ids + 1] = id end
  end
  return ids
end

-- At most so many ids from a seq on.
local function from(c, seq, limit)
  if c.indexed then return redis.call('ZRANGEBYSCORE', c.seqs, text(seq), '+inf', 'LIMIT', 0, limit) end
  local ids, at = {}, math.max(seq, c.first)
  while #ids < limit and at <= c.last do
    local to = math.min(at + math.min(limit - #ids, 1000) - 1, c.last)
    for _, id in ipairs(named(c, at, to)) do ids[#ids + 1] = id end
    at = to + 1
  end
  return ids
end

-- The last so many ids, oldest first.
local function newest(c, limit)
  limit = math.min(limit, c.count)
  if limit == 0 then return {} end
  if c.indexed then return redis.call('ZRANGE', c.seqs, -limit, -1) end
  local backwards, to = {}, c.last
  while #backwards < limit and to >= c.first do
    local at = math.max(to - math.min(limit - #backwards, 1000) + 1, c.first)
    local ids = named(c, at, to)
    for n = #ids, 1, -1 do backwards[#backwards + 1] = ids[n] end
    to = at - 1
  end
  local ids = {}
  for n = #backwards, 1, -1 do ids[#ids + 1] = backwards[n] end
  return ids
end

-- The records of these ids.
local function records(key, ids)
  local found = {}
  for first = 1, #ids, 2000 do
    local fields = {}
    for at = first, math.min(first + 1999, #ids) do fields[#fields + 1] = ':' .. ids[at] end
    for _, record in ipairs(redis.call('HMGET', key, unpack(fields))) do found[#found + 1] = record end
  end
  return found
end

-- Makes the two sets of a collection that needs them. What it holds is looked for by name: its seqs may lie far apart.
local function index(c)
  local ids, seqs, times, names = {}, {}, {}, {}
  for _, field in ipairs(redis.call('HKEYS', c.key)) do
    if string.sub(field, 1, 1) == ':' then ids[#ids + 1] = string.sub(field, 2) end
  end
  for n, record in ipairs(records(c.key, ids)) do
    local r = read(record)
    seqs[2 * n - 1], seqs[2 * n] = text(r.seq), ids[n]
    times[2 * n - 1], times[2 * n] = r.time, place(r.seq, ids[n])
    names[n] = '#' .. text(r.seq)
  end
  call('ZADD', c.seqs, seqs)
  call('ZADD', c.times, times)
  call('HDEL', c.key, names)
  redis.call('HSET', c.key, 'indexed', 1)
  c.indexed = '1'
end

-- After documents were removed: where the first is now, or not after it. With many more seqs than documents it is indexed.
local function settle(c)
  if c.indexed then return end
  local looks = 0
  while looks < 100 and c.first <= c.last and #named(c, c.first, c.first) == 0 do
    looks = looks + 1
    local ids = named(c, c.first, math.min(c.first + 99, c.last))
    c.first = #ids > 0 and read(records(c.key, ids)[1]).seq or c.first + 100
  end
  c.first = math.min(c.first, c.last + 1)
  redis.call('HSET', c.key, 'first', text(c.first))
  if c.last - c.first + 1 > 2 * c.count + 256 then index(c) end
end
