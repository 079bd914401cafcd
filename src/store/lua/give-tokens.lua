-- Gives back what admissions took of buckets of tokens for requests that will not go upstream.
--
-- KEYS[1] organization
-- ARGV[n] of each request: its key id, its owners, the token buckets that it meets (token-buckets.lua), tokens of its prompt
--   that its admission took
--
-- Reply: {'given'}

-- @include integer.lua
-- @include owners.lua
-- @include token-units.lua
-- @include take-tokens.lua

local organization = KEYS[1]
for position = 1, #ARGV, 4 do
  local key_id, owners, met, prompt_tokens = unpack(ARGV, position, position + 3)
  take_tokens(organization, met, key_id, owners, -tonumber(prompt_tokens), 0)
end
return { 'given' }
