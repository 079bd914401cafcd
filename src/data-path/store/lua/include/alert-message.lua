-- Messages of alerts: what fires in one step is one message, one entry of the outbox, under the id of its first alert.

-- Entries in the list; the outbox keeps an alert until it is delivered or abandoned.
local LISTED_ALERTS = 10000
-- Maximum of waiting messages if a channel fails: the oldest are dropped.
local OUTBOX_ENTRIES = 10000

-- Adds alerts, each as field, value, field, value …, to the list for people and to the outbox.
local function write_message(list, outbox, message)
  for _, fields in ipairs(message) do
    redis.call('XADD', list, 'MAXLEN', '~', LISTED_ALERTS, '*', unpack(fields))
  end
  -- Fields of further alerts follow those of the first, as "2:id", "2:kind" …
  local entry = { unpack(message[1]) }
  for position = 2, #message do
    for index, text in ipairs(message[position]) do
      entry[#entry + 1] = index % 2 == 1 and integer(position) .. ':' .. text or text
    end
  end
  redis.call('XADD', outbox, 'MAXLEN', '~', OUTBOX_ENTRIES, '*', unpack(entry))
end

-- Wakes the delivery. The sweep would find the message later as well, so an error is ignored: if the Redis user may
-- not publish, the charge that fired the alert must not fail.
local function announce_message(organization)
  redis.pcall('PUBLISH', 'igw:alerts', string.match(organization, '{(.-)}'))
end
