-- Notes that a root is listed, if it is still the one that was listed. KEYS: change counters of the root. ARGV: its birth.

if redis.call('HGET', KEYS[1], 'born') == ARGV[1] then redis.call('HSET', KEYS[1], 'listed', 1) end
return {}
