-- Constants of token buckets (token-buckets.lua). One token is 60,000 units, so that each millisecond adds as many units
-- as the limit has tokens: only integers, no rounding. The largest bucket, 10^9 tokens, is 6 * 10^13 units.
local UNITS_PER_LIMITED_TOKEN = 60000
-- A shared bucket is at most this many minutes below 0.
local FLOOR_MINUTES = 5
-- Start of the count of used tokens. A count far below it was most likely just created by a charge, in a hash that had
-- expired.
local USED_FROM = 1000000000000
-- Positions in the list of a bucket: scope, hash, type, tokens per minute, units, count, time of the last write by an
-- admission in ms.
local BUCKET_SCOPE, BUCKET_HASH, BUCKET_TYPE, BUCKET_LIMIT, BUCKET_LEVEL, BUCKET_USED, BUCKET_AT_MS = 1, 2, 3, 4, 5, 6, 7
