-- How many documents a range of times has. KEYS: the collection's own three. ARGV: begin, end.

local c = load(KEYS[1])
if not c then return 0 end
if ARGV[1] == '' and ARGV[2] == '' then return c.count end
if not c.indexed then index(c) end
local begin, finish = ARGV[1], ARGV[2]
local first = begin ~= '' and redis.call('ZCOUNT', KEYS[3], '-inf', begin) or 0
local stop = finish ~= '' and redis.call('ZCOUNT', KEYS[3], '-inf', finish) or redis.call('ZCARD', KEYS[3])
return math.max(stop - first, 0)
