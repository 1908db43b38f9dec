-- Cross-checks every collection of a root. KEYS: collections, expiry, change counters of the root. Answers what is wrong.

local findings = {}
local function tell(path, what) findings[#findings + 1] = { path, what } end

for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local cut = string.find(member, '\0\0', 1, true)
  local path, key = string.sub(member, 1, cut - 1), string.sub(member, cut + 2)
  local c = load(key)
  if not (c and c.first and c.count and c.epoch and c.born) or c.path ~= path then
    tell(path, 'its entry is not whole')
  else
    local ids, before = between(c, 1, c.last), nil
    for _, id in ipairs(ids) do
      local is_read, r = pcall(read, redis.call('HGET', key, ':' .. id))
      if not is_read or not r.seq then
        tell(path, 'the record of ' .. id .. ' cannot be read')
      else
        local seq, time = r.seq, tonumber(r.time)
        if c.indexed then
          seq = tonumber(redis.call('ZSCORE', c.seqs, id))
          time = tonumber(redis.call('ZSCORE', c.times, place(r.seq, id)) or 'nan')
        elseif before and time < before then
          tell(path, id .. ' has an earlier time than the one before')
        end
        before = time
        if seq ~= r.seq or time ~= tonumber(r.time) then tell(path, id .. ' has two seqs, or two times') end
        if r.expires ~= '' and not redis.call('ZSCORE', KEYS[2], due(key, id)) then tell(path, id .. ' will not expire') end
      end
    end
    local stored, names = 0, 0
    for _, field in ipairs(redis.call('HKEYS', key)) do
      if string.sub(field, 1, 1) == ':' then stored = stored + 1 end
      if string.sub(field, 1, 1) == '#' then names = names + 1 end
    end
    local times = c.indexed and redis.call('ZCARD', c.times) or names
    if #ids ~= c.count or stored ~= c.count or times ~= c.count then
      tell(path, 'it counts ' .. c.count .. ' documents, has ' .. stored .. ', and finds ' .. #ids .. ' by seq, ' .. times .. ' in all')
    end
  end
end
return findings
