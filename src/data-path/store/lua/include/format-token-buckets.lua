-- Formats the tightest of each type of `buckets` (token-buckets.lua) as `levels`: "total <limit> <units>",
-- comma-separated.
-- Reads: buckets, BUCKET_TYPE, BUCKET_LIMIT, BUCKET_LEVEL
-- Changes: levels

for position = 1, #buckets do
  local bucket, is_tightest = buckets[position], true
  for place = 1, #buckets do
    local other = buckets[place]
    if place ~= position and other[BUCKET_TYPE] == bucket[BUCKET_TYPE] and (other[BUCKET_LEVEL] < bucket[BUCKET_LEVEL]
      or other[BUCKET_LEVEL] == bucket[BUCKET_LEVEL] and place < position) then
      is_tightest = false
    end
  end
  if is_tightest then
    levels = string.format(levels == '' and '%s%s %d %d' or '%s,%s %d %d', levels, bucket[BUCKET_TYPE], bucket[BUCKET_LIMIT],
      bucket[BUCKET_LEVEL])
  end
end
