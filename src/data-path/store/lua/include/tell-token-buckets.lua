-- Formats the tightest of each type of `buckets` (token-buckets.lua) as `told`: "total <limit> <units>",
-- comma-separated.
-- Reads: buckets, BUCKET_TYPE, BUCKET_LIMIT, BUCKET_LEVEL
-- Changes: told

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
    told = string.format(told == '' and '%s%s %d %d' or '%s,%s %d %d', told, bucket[BUCKET_TYPE], bucket[BUCKET_LIMIT],
      bucket[BUCKET_LEVEL])
  end
end
