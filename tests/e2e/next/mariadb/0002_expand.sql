-- oldest: 1
-- As a next release would begin: what is new is beside what was there, and may be left out. This may be done again, and
-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @add = IF(EXISTS (SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'ax_task'
  AND COLUMN_NAME = 'steward'), 'DO 0', 'ALTER TABLE ax_task ADD COLUMN steward VARCHAR(128)');
PREPARE add_steward FROM @add;
EXECUTE add_steward;
DEALLOCATE PREPARE add_steward;
CREATE TABLE IF NOT EXISTS ax_steward (name VARCHAR(128) PRIMARY KEY) ENGINE=InnoDB;
