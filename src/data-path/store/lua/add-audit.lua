-- Writes an entry of an audit log that is not part of another script's change.
--
-- KEYS[1] audit log
-- ARGV[1] entry
--
-- Reply: 1.

-- @include audit.lua

-- @input

add_audit(audit, audit_entry)
return 1
