-- What is at a path of a root and below it: counted, or as much of it as is read at once.
-- KEYS: collections of the root. ARGV: where to begin, where to end, `count` or `all`, then for `all` the seq to begin with
-- in the first collection, and the bytes after which it is enough. Answers the count, what was read, and where to go on.

local total, found, bytes, seq = 0, {}, 0, tonumber(ARGV[4] or 1)
for _, member in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], '[' .. ARGV[1], '(' .. ARGV[2])) do
  local cut = string.find(member, '\0\0', 1, true)
  local path, key = string.sub(member, 1, cut - 1), string.sub(member, cut + 2)
  local c = load(key)
  total = total + (c and c.count or 0)
  if ARGV[3] == 'all' and c then
    while true do
      local before, ids = seq - 1, from(c, seq, 100)
      local some = records(key, ids)
      for _, record in ipairs(some) do bytes = bytes + #record end
      if #ids > 0 then seq = read(some[#some]).seq + 1 end
      -- With the last of a collection, the last seq that it has given, and the one that was read last.
      local is_end = #ids < 100
      found[#found + 1] = { path, ids, some, is_end and text(c.last) or '0', text(#ids > 0 and seq - 1 or before) }
      if is_end then break end
      if bytes > tonumber(ARGV[5]) then return { total, found, path, text(seq) } end
    end
    seq = 1
    if bytes > tonumber(ARGV[5]) then return { total, found, path .. '\0\1', '1' } end
  end
end
return { total, found, '', '' }
