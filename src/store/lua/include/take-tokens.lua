-- What a request that meets limits of tokens per minute (token-buckets.lua) takes of them once more is known: by how much
-- its prompt and its answer differ from what it has taken. `met`: "key=total,input organization=output"; `owners`: see
-- owners.lua. A bucket that is not there has been full for a day.
local function take_tokens(organization, met, key_id, owners, input, output)
  local differences = { total = input + output, input = input, output = output }
  for scope, names in string.gmatch(met, '(%a+)=(%S+)') do
    local owner = scope
    if scope == 'key' then
      owner = 'key:' .. key_id
    elseif scope ~= 'organization' then
      owner = scope .. ':' .. string.match(owners, scope .. '_[^.]+')
    end
    local key = sibling(organization, 'tokens:' .. owner)
    for name in string.gmatch(names, '%a+') do
      local difference = -UNITS_PER_LIMITED_TOKEN * differences[name]
      if difference ~= 0 and redis.call('HINCRBY', key, name, integer(difference)) == difference
        and redis.call('HEXISTS', key, name .. ':at') == 0 then
        redis.call('HDEL', key, name)
      end
    end
  end
end
