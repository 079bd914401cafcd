-- Releases the name of an organization that was renamed or deleted.
--
-- KEYS[1] names of organizations
-- ARGV[1] folded name         ARGV[2] organization id
-- ARGV[3] time of a claim, us: later entries stay: the organization has got the name back
--
-- Reply: 1; 0 without such an entry. claim-name.lua has the form of entries.

-- @input

local holder, claimed_us = string.match(redis.call('HGET', names, name) or '', '^([^@]+)@(%d+)$')
if holder ~= organization_id or tonumber(claimed_us) >= before_us then
  return 0
end
return redis.call('HDEL', names, name)
