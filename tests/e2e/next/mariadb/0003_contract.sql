-- oldest: 2
-- And as the one after it would end: programs that write no steward are refused from now on.
UPDATE ax_task SET steward = '' WHERE steward IS NULL;
