-- Of a bucket of tokens (token-buckets.lua). One token is 60,000 units, so that each millisecond adds as many as the limit
-- says: integers only, no rounding. The largest bucket, 10^9 tokens, is 6 * 10^13 units.
local UNITS_PER_LIMITED_TOKEN = 60000
-- A shared bucket is at most so many minutes below 0.
local FLOOR_MINUTES = 5
-- Where its count of used tokens begins. One that is far below has most likely just come to be, by a charge, in a hash that
-- was there no more.
local USED_FROM = 1000000000000
-- What a list says of a bucket: whose it is, the hash that it is in, its type, tokens per minute, units, what is counted, when
-- an admission last wrote it, ms.
local BUCKET_SCOPE, BUCKET_HASH, BUCKET_TYPE, BUCKET_LIMIT, BUCKET_LEVEL, BUCKET_USED, BUCKET_AT_MS = 1, 2, 3, 4, 5, 6, 7
