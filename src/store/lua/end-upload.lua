-- A body is on its way no longer: it has come, or never will. May be repeated.
--
-- KEYS[1] uploads (bodies on their way by deadline)      KEYS[2] bytes on their way
-- ARGV[1] request id            ARGV[2] key id           ARGV[3] bytes of the body
--
-- Reply: 1, or 0 when it was counted no longer.

-- @include integer.lua
-- @include uploads.lua

-- @input

return end_upload(uploads, bytes_on_way, upload_of(request_id, key_id, bytes))
