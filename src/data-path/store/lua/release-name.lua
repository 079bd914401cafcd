-- Takes a name from an organization that has another now, or is gone.
--
-- KEYS[1] names of organizations
-- ARGV[1] folded name         ARGV[2] organization id
-- ARGV[3] time of a claim, us: an entry from after it stays, for then the organization has got the name back
--
-- Reply: 1; 0 when it had no such entry. What an entry is: claim-name.lua.

-- @input

local holder, claimed_us = string.match(redis.call('HGET', names, name) or '', '^([^@]+)@(%d+)$')
if holder ~= organization_id or tonumber(claimed_us) >= before_us then
  return 0
end
return redis.call('HDEL', names, name)
