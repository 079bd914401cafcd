-- User and group that a request counts for, in addition to its key and organization. Decided once at admission and
-- carried with the request as one text, "user_1.group_2"; '' for none.

-- Returns the name of another record of the organization. It is only known from another record's fields, so callers
-- cannot declare it in KEYS; it has the same slot.
local function sibling(organization, name)
  return string.sub(organization, 1, -13) .. name
end
