-- The collections of one name below the documents of another, by id. What is not listed is skipped by seeking.
-- KEYS: collections of the root. ARGV: path before the ids, where to begin, where to end, name, limit.

local base, low, high, child, limit = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local rows = {}
while true do
  local next = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. low, '(' .. high, 'LIMIT', 0, 1)[1]
  if not next then return { 0, rows } end
  local id = string.match(next, '^[^%z]*', #base + 1)
  low = base .. id .. '\1'
  local path = base .. id .. '\0' .. child .. '\0\0'
  local member = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. path, '(' .. path .. '\255', 'LIMIT', 0, 1)[1]
  if member then
    local key = string.sub(member, #path + 1)
    local c = load(key)
    local last = c and newest(c, 1)[1]
    if last then
      if #rows == limit then return { 1, rows } end
      local time = string.match(redis.call('HGET', key, ':' .. last) or '', '^%d+ %d+ (%S+)') or '0'
      rows[#rows + 1] = { id, c.count, time }
    end
  end
end
