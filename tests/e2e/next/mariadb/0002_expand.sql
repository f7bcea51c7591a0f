-- oldest: 1
-- As a next release would begin: what is new is beside what was there, and may be left out.
ALTER TABLE ax_task ADD COLUMN IF NOT EXISTS steward VARCHAR(128);
CREATE TABLE IF NOT EXISTS ax_steward (name VARCHAR(128) PRIMARY KEY) ENGINE=InnoDB;
