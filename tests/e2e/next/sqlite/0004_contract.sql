-- oldest: 3
UPDATE ax_task SET steward = '' WHERE steward IS NULL;
