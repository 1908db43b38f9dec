-- Operations of one root, all or nothing: each is laid over what is stored, and the whole is written at the end.
-- KEYS: collections, expiry, change counters of the root, then a collection's own three, one after the other.
-- ARGV: nonce, `do` or `check`, number of collections, path and kind of each, then the operations.

local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end

local nonce, mode, collections = take(), take(), tonumber(take())
local colls = {}
for i = 1, collections do
  colls[i] = { key = KEYS[3 * i + 1], seqs = KEYS[3 * i + 2], times = KEYS[3 * i + 3], path = take(), kind = take() }
end

local function open(i)
  local c = colls[tonumber(i)]
  if not c.docs then
    local stored = load(c.key) or { last = 0, first = 1, count = 0, epoch = nonce }
    for name, value in pairs(stored) do c[name] = value end
    c.is_new = not stored.born
    -- Laid over: records by id, false where one was removed; the ids in order; what must leave the sets first.
    c.docs, c.order, c.ordered, c.added = {}, {}, {}, 0
    c.old_places, c.old_names, c.old_dues = {}, {}, {}
  end
  return c
end

local function find(c, id)
  local laid = c.docs[id]
  if laid ~= nil or c.is_new then return laid or nil end
  local record = redis.call('HGET', c.key, ':' .. id)
  if not record then return nil end
  c.docs[id] = read(record)
  return c.docs[id]
end

local function lay(c, id, record)
  c.docs[id] = record
  if not c.ordered[id] then
    c.ordered[id] = true
    c.order[#c.order + 1] = id
  end
end

local function add(c, id, record)
  c.added = c.added + 1
  if record.seq <= c.last or tonumber(record.time) < tonumber(c.newest or record.time) then c.needs_index = true end
  c.newest = record.time
  c.last = math.max(c.last, record.seq)
  lay(c, id, record)
end

local function let_go(c, id, old)
  c.old_places[#c.old_places + 1] = place(old.seq, id)
  c.old_names[#c.old_names + 1] = '#' .. text(old.seq)
  if old.expires ~= '' then c.old_dues[#c.old_dues + 1] = due(c.key, id) end
end

local function remove(c, id, old)
  c.added = c.added - 1
  c.epoch = nonce
  let_go(c, id, old)
  lay(c, id, false)
end

-- Removes the oldest until only so many are left.
local function trim(c, keep)
  local excess = c.count + c.added - keep
  -- Some of the oldest may be laid over already.
  for _, id in ipairs(excess > 0 and not c.is_new and from(c, 1, excess + #c.order) or {}) do
    if excess > 0 and c.docs[id] ~= false and not (c.docs[id] and c.docs[id].is_added) then
      remove(c, id, find(c, id))
      excess = excess - 1
    end
  end
  local added = {}
  for _, id in ipairs(excess > 0 and c.order or {}) do
    if c.docs[id] and c.docs[id].is_added then added[#added + 1] = id end
  end
  table.sort(added, function(a, b) return c.docs[a].seq < c.docs[b].seq end)
  for n = 1, excess do remove(c, added[n], c.docs[added[n]]) end
end

local function stamp(record, existed) return { text(record.seq), text(record.version), record.time, existed } end

local function is_stale(expected, actual)
  return expected ~= '' and tonumber(expected) ~= actual and { 'stale', expected, text(actual) } or nil
end

-- Each reads its words, and answers what it did, or nothing and why the write is refused.
local operations = {}

-- What must be merged elsewhere before this can be done: number, state and value of each, all told at once.
local unmerged = { 'merge' }

function operations.append()
  local i, if_seq, keep, documents = take(), take(), take(), tonumber(take())
  local c = open(i)
  local before, stamps, is_news = c.last, {}, false
  for n = 1, documents do
    local id, is_fresh, time, expires, value = take(), take(), take(), take(), take()
    local known = is_fresh == '' and find(c, id) or nil
    if known and known.value ~= value then return nil, { 'conflict', i, id } end
    if known then
      stamps[n] = stamp(known, 1)
    else
      local record =
        { seq = c.last + 1, version = 1, time = time, expires = expires, value = value, is_added = true }
      add(c, id, record)
      stamps[n], is_news = stamp(record, 0), true
    end
  end
  if is_news then
    local stale = is_stale(if_seq, before)
    if stale then return nil, stale end
    if keep ~= '' then trim(c, tonumber(keep)) end
  end
  return stamps
end

function operations.put(number)
  local i, id, merges, if_version, create_time, now = take(), take(), take() ~= '', take(), take(), take()
  local expires, value, merged_with, merged = take(), take(), take(), take()
  local c = open(i)
  local old = find(c, id)
  local stale = is_stale(if_version, old and old.version or 0)
  if stale then return nil, stale end
  if not old then
    local time = create_time ~= '' and create_time or now
    local record = { seq = c.last + 1, version = 1, time = time, expires = expires, value = value, is_added = true }
    add(c, id, record)
    return { stamp(record, 0) }
  end
  local is = (c.born or '') .. '.' .. text(old.seq) .. '.' .. text(old.version)
  if merges and (merged_with ~= is or old.is_unmerged) then
    -- What it is merged into next is not known before that is done.
    for _, word in ipairs(old.is_unmerged and {} or { number, is, old.value }) do unmerged[#unmerged + 1] = word end
    old.is_unmerged = true
    return { stamp(old, 1) }
  end
  local record = {
    seq = old.seq, version = old.version, value = merges and merged or value,
    time = create_time ~= '' and create_time or old.time,
    expires = expires ~= '' and expires or (merges and old.expires or ''),
    is_added = old.is_added,
  }
  if tonumber(record.time) == tonumber(old.time) and tonumber(record.expires) == tonumber(old.expires)
    and record.value == old.value then
    return { stamp(old, 1) }
  end
  record.version = old.version + 1
  if tonumber(record.time) ~= tonumber(old.time) then c.needs_index = true end
  c.epoch = nonce
  let_go(c, id, old)
  lay(c, id, record)
  return { stamp(record, 1) }
end

function operations.delete()
  local i, id, if_version = take(), take(), take()
  local c = open(i)
  local old = find(c, id)
  local stale = is_stale(if_version, old and old.version or 0)
  if stale then return nil, stale end
  if old then remove(c, id, old) end
  return { old and 1 or 0 }
end

function operations.expect()
  local i, id = take(), take()
  if not find(open(i), id) then return nil, { 'missing', i, id } end
  return {}
end

function operations.reserve()
  local i, last = take(), tonumber(take())
  local c = open(i)
  if last > c.last then c.last, c.epoch, c.reserved = last, nonce, true end
  return {}
end

-- Documents with everything they had elsewhere.
local function bring(c, i)
  local new = 0
  for _ = 1, tonumber(take()) do
    local id, seq, time, version, expires, value = take(), tonumber(take()), take(), tonumber(take()), take(), take()
    local known = find(c, id)
    if known and known.value ~= value then return nil, { 'conflict', i, id } end
    if not known then
      local holder = not c.is_new and between(c, seq, seq)[1]
      c.taken = c.taken or {}
      if c.taken[seq] or (holder and c.docs[holder] ~= false) then return nil, { 'conflict', i, id } end
      c.taken[seq] = true
      add(c, id, { seq = seq, version = version, time = time, expires = expires, value = value, is_added = true })
      c.epoch, c.brought = nonce, true
      c.first = c.is_new and c.added == 1 and seq or math.min(c.first, seq)
      new = new + 1
    end
  end
  return { new }
end

function operations.import()
  local i = take()
  return bring(open(i), i)
end

function operations.fork()
  local i, from, at_seq, turns = take(), take(), take(), take()
  local c = open(i)
  local origin = from .. ' ' .. at_seq .. ' '
  if not c.is_new then
    local first = redis.call('HGET', c.key, 'origin') or ''
    if string.sub(first, 1, #origin) ~= origin then return nil, { 'conflict', i, '' } end
    at = #ARGV
    return { tonumber(string.sub(first, #origin + 1)) }
  end
  c.origin = origin .. turns
  local _, refused = bring(c, i)
  c.last = tonumber(at_seq)
  return { tonumber(turns) }, refused
end

local outcomes = {}
while at < #ARGV do
  local outcome, refused = operations[take()](#outcomes + 1)
  -- A refusal is not final where it may be for want of a merge.
  if refused then return #unmerged > 1 and unmerged or refused end
  outcomes[#outcomes + 1] = outcome
end
if #unmerged > 1 then return unmerged end

local states, is_written = {}, false
for i, c in ipairs(colls) do
  open(i)
  if mode == 'do' and (#c.order > 0 or c.origin or c.reserved) then
    local fields, seqs, times, dues, gone = {}, {}, {}, {}, {}
    for _, id in ipairs(c.order) do
      local record = c.docs[id]
      if record then
        fields[#fields + 1], fields[#fields + 2] = ':' .. id, written(record)
        if c.indexed then
          seqs[#seqs + 1], seqs[#seqs + 2] = text(record.seq), id
          times[#times + 1], times[#times + 2] = record.time, place(record.seq, id)
        else
          fields[#fields + 1], fields[#fields + 2] = '#' .. text(record.seq), id
        end
        if record.expires ~= '' then dues[#dues + 1], dues[#dues + 2] = record.expires, due(c.key, id) end
      else
        c.old_names[#c.old_names + 1], gone[#gone + 1] = ':' .. id, id
      end
    end
    c.count = c.count + c.added
    call('HDEL', c.key, c.old_names)
    call('ZREM', KEYS[2], c.old_dues)
    if c.indexed then
      call('ZREM', c.times, c.old_places)
      call('ZREM', c.seqs, gone)
      call('ZADD', c.seqs, seqs)
      call('ZADD', c.times, times)
    end
    call('HSET', c.key, fields)
    call('ZADD', KEYS[2], dues)
    redis.call('HSET', c.key, 'last', text(c.last), 'count', text(c.count), 'epoch', c.epoch)
    if c.newest then redis.call('HSET', c.key, 'newest', c.newest) end
    if c.origin then redis.call('HSET', c.key, 'origin', c.origin) end
    if c.is_new then
      redis.call('HSET', c.key, 'path', c.path, 'born', nonce .. '.' .. i, 'first', text(c.first))
      redis.call('ZADD', KEYS[1], 0, c.path .. '\0\0' .. c.key)
    end
    if c.needs_index and not c.indexed then index(c) end
    if #c.old_names > 0 or c.brought or c.reserved then settle(c) end
    redis.call('HSET', KEYS[3], 'all', nonce, ':' .. c.kind, nonce)
    is_written = true
  end
  states[i] = { text(c.last), c.epoch }
end
-- Whoever wrote here before may have ended before the root was listed: then this write sees to it, also where it changes nothing.
local is_there = is_written or mode == 'do' and redis.call('EXISTS', KEYS[3]) == 1
local unlisted = ''
if is_there and redis.call('HEXISTS', KEYS[3], 'listed') == 0 then
  redis.call('HSETNX', KEYS[3], 'born', nonce)
  unlisted = redis.call('HGET', KEYS[3], 'born')
end
return { 'ok', unlisted, states, outcomes }
