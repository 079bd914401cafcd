-- Gives back what admissions of requests that will not go upstream took of buckets of tokens.
--
-- KEYS[1] organization
-- ARGV[n] of each token bucket that they meet (token-buckets.lua): its hash, its count, what was taken, below 0
--
-- Reply: {'given'}

-- @include token-units.lua

-- @input
local token_buckets, FIRST_TOKEN_BUCKET = ARGV, FIRST_FURTHER_ARGUMENT
-- @include take-tokens.lua
return { 'given' }
