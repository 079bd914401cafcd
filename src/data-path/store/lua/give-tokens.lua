-- Gives back the tokens that admissions took for requests that will not go upstream.
--
-- KEYS[1] organization
-- ARGV[n] for each of their token buckets (token-buckets.lua): its hash, its count, what was taken, below 0
--
-- Reply: {'given'}

-- @include token-units.lua

-- @input
local token_buckets, FIRST_TOKEN_BUCKET = ARGV, FIRST_FURTHER_ARGUMENT
-- @include take-tokens.lua
return { 'given' }
