-- Gives a name to an organization, unless another has it.
--
-- KEYS[1] names of organizations
-- ARGV[1] folded name         ARGV[2] organization id
-- ARGV[3] '1': also where another has it, as two of one name from before there was this index
-- ARGV[4..] entries that have the name no more, as an earlier reply told them
--
-- Reply: {'claimed', time us}; {'taken', time us, entry, entry …} with those that have it.
--
-- An entry is '<organization id>@<time of the claim, us>'; a name's value is its entries with blanks between. Keeps: but
-- for ARGV[3] a name never gets a second entry. An organization that has the name claims it anew.

-- @include integer.lua
-- @include time.lua

local names = KEYS[1]
local name, organization_id, is_shared = ARGV[1], ARGV[2], ARGV[3] == '1'
local gone_entries = { unpack(ARGV, 4) }

local is_gone = {}
for _, entry in ipairs(gone_entries) do
  is_gone[entry] = true
end
local now_us = integer(now_microseconds())
local others = {}
for entry in string.gmatch(redis.call('HGET', names, name) or '', '%S+') do
  if not is_gone[entry] and string.match(entry, '^[^@]+') ~= organization_id then
    others[#others + 1] = entry
  end
end
if #others > 0 and not is_shared then
  return { 'taken', now_us, unpack(others) }
end
others[#others + 1] = organization_id .. '@' .. now_us
redis.call('HSET', names, name, table.concat(others, ' '))
return { 'claimed', now_us }
