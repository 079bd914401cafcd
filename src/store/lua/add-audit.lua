-- Writes an entry of an audit log that belongs to no script's change.
--
-- KEYS[1] audit log
-- ARGV[1] entry               ARGV[2] most bytes of the log in Redis
--
-- Reply: 1.

-- @include audit.lua

-- @input

add_audit(audit, audit_entry, most_bytes)
return 1
