-- Takes a name from an organization that has another now, or is gone.
--
-- KEYS[1] names of organizations
-- ARGV[1] folded name         ARGV[2] organization id
-- ARGV[3] time of a claim, us: an entry from after it stays, for then the organization has got the name back
--
-- Reply: 1; 0 when it had no such entry. What an entry is: claim-name.lua.

local names = KEYS[1]
local name, organization_id, before_us = ARGV[1], ARGV[2], tonumber(ARGV[3])

local left, released = {}, 0
for entry in string.gmatch(redis.call('HGET', names, name) or '', '%S+') do
  local holder, claimed_us = string.match(entry, '^([^@]+)@(%d+)$')
  if holder == organization_id and tonumber(claimed_us) < before_us then
    released = 1
  else
    left[#left + 1] = entry
  end
end
if released == 1 and #left == 0 then
  redis.call('HDEL', names, name)
elseif released == 1 then
  redis.call('HSET', names, name, table.concat(left, ' '))
end
return released
