-- Of a bucket of tokens (token-buckets.lua). One token is 60,000 units, so that each millisecond adds as many as the limit
-- says: integers only, no rounding. The largest bucket, 10^9 tokens, is 6 * 10^13 units.
local UNITS_PER_LIMITED_TOKEN = 60000
