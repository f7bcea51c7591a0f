-- oldest: 2
ALTER TABLE ax_task ADD COLUMN steward TEXT;
