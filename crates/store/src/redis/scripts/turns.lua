-- Turns of a collection, and what is known of it at the same moment.
-- KEYS: the collection's own three. ARGV: `last` n, `after` seq limit, or `between` first last.

local c = load(KEYS[1])
if not c then return {} end
local ids, more = nil, 0
if ARGV[1] == 'last' then
  ids = newest(c, tonumber(ARGV[2]))
  more = c.count > tonumber(ARGV[2]) and 1 or 0
elseif ARGV[1] == 'after' then
  local limit = math.min(tonumber(ARGV[3]), c.count)
  ids = from(c, tonumber(ARGV[2]) + 1, limit + 1)
  if #ids > limit then
    ids[#ids], more = nil, 1
  end
else
  ids = between(c, tonumber(ARGV[2]), tonumber(ARGV[3]))
end
return { text(c.last), c.epoch, c.count, more, c.born, ids, records(KEYS[1], ids) }
