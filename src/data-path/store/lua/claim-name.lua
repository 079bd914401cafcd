-- Gives a name to an organization, unless another has it.
--
-- KEYS[1] names of organizations
-- ARGV[1] folded name         ARGV[2] organization id
-- ARGV[3] entry that a previous reply named and whose organization no longer has the name, '' for none
--
-- Reply: {'claimed', time us}; {'taken', time us, entry}: the entry of another organization.
--
-- An entry is '<organization id>@<time of the claim, us>'. Guarantees: a name has at most one entry. An organization that has
-- the name claims it again.

-- @include integer.lua
-- @include time.lua

-- @input

local now_us = integer(now_microseconds())
local entry = redis.call('HGET', names, name)
if entry and entry ~= deleted_entry and string.match(entry, '^[^@]+') ~= organization_id then
  return { 'taken', now_us, entry }
end
redis.call('HSET', names, name, organization_id .. '@' .. now_us)
return { 'claimed', now_us }
