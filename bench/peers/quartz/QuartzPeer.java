import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Date;
import java.util.Properties;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** Quartz, clustered over MariaDB: {@code schedule N START_MS SPREAD_MS | enqueue N DUE_MS | work LOG WORK_MS}. */
public class QuartzPeer {
    static final String STORE = System.getenv("PEER_STORE");
    static final String TABLES = "/org/quartz/impl/jdbcjobstore/tables_mysql_innodb.sql";
    static final int THREADS = 50;
    static final long PERIOD_MS = 10_000;

    static long workMs;
    static OutputStream log;
    static final ByteArrayOutputStream lines = new ByteArrayOutputStream();

    /** A line "name due_ms begun_ms" for each run that was done; at once when runs take time: a kill must not take it. */
    public static class Work implements Job {
        @Override
        public void execute(JobExecutionContext run) throws JobExecutionException {
            long begun = System.currentTimeMillis();
            String name = run.getTrigger().getKey().getName();
            long due = run.getScheduledFireTime().getTime();
            if (run.isRecovering()) {
                name = run.getRecoveringTriggerKey().getName();
                due = Long.parseLong(run.getMergedJobDataMap()
                        .getString(Scheduler.FAILED_JOB_ORIGINAL_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS));
            }
            try {
                Thread.sleep(workMs);
                synchronized (lines) {
                    lines.write((name + " " + due + " " + begun + "\n").getBytes(StandardCharsets.UTF_8));
                }
                if (workMs > 0) {
                    flush();
                }
            } catch (Exception e) {
                throw new JobExecutionException(e);
            }
        }
    }

    static void flush() throws java.io.IOException {
        synchronized (lines) {
            lines.writeTo(log);
            lines.reset();
        }
    }

    static Connection connect() throws SQLException {
        return DriverManager.getConnection(STORE + "&rewriteBatchedStatements=true");
    }

    static void createTables() throws Exception {
        try (Connection db = connect(); Statement statement = db.createStatement();
                InputStream in = StdSchedulerFactory.class.getResourceAsStream(TABLES)) {
            String script = new String(in.readAllBytes(), StandardCharsets.UTF_8).replaceAll("(?m)^(#|--).*$", "");
            for (String sql : script.split(";")) {
                if (!sql.isBlank() && !sql.strip().equalsIgnoreCase("commit")) {
                    statement.execute(sql);
                }
            }
        }
    }

    static Scheduler newScheduler() throws Exception {
        Properties p = new Properties();
        p.setProperty("org.quartz.scheduler.instanceName", "bench");
        p.setProperty("org.quartz.scheduler.instanceId", "AUTO");
        p.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
        p.setProperty("org.quartz.scheduler.idleWaitTime", "1000");
        p.setProperty("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", String.valueOf(THREADS));
        p.setProperty("org.quartz.threadPool.threadCount", String.valueOf(THREADS));
        p.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
        p.setProperty("org.quartz.jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.StdJDBCDelegate");
        p.setProperty("org.quartz.jobStore.isClustered", "true");
        p.setProperty("org.quartz.jobStore.acquireTriggersWithinLock", "true"); // a batch demands it
        p.setProperty("org.quartz.jobStore.dataSource", "ds");
        p.setProperty("org.quartz.dataSource.ds.provider", "hikaricp");
        p.setProperty("org.quartz.dataSource.ds.driver", "org.mariadb.jdbc.Driver");
        p.setProperty("org.quartz.dataSource.ds.URL", STORE);
        p.setProperty("org.quartz.dataSource.ds.maximumPoolSize", String.valueOf(THREADS + 5));
        return new StdSchedulerFactory(p).getScheduler();
    }

    static Scheduler newSchedulerWithJob() throws Exception {
        createTables();
        Scheduler scheduler = newScheduler();
        JobDetail job = JobBuilder.newJob(Work.class).withIdentity("j").requestRecovery().storeDurably().build();
        scheduler.addJob(job, true);
        return scheduler;
    }

    /** By SQL: through the API 20,000 triggers take minutes. */
    static void schedule(int n, long startMs, long spreadMs) throws Exception {
        newSchedulerWithJob();
        try (Connection db = connect();
                PreparedStatement trigger = db.prepareStatement("INSERT INTO QRTZ_TRIGGERS (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP,"
                        + " JOB_NAME, JOB_GROUP, NEXT_FIRE_TIME, PREV_FIRE_TIME, PRIORITY, TRIGGER_STATE, TRIGGER_TYPE, START_TIME,"
                        + " END_TIME, MISFIRE_INSTR) VALUES ('bench', ?, 'DEFAULT', 'j', 'DEFAULT', ?, -1, 5, 'WAITING', 'SIMPLE', ?, 0, -1)");
                PreparedStatement simple = db.prepareStatement("INSERT INTO QRTZ_SIMPLE_TRIGGERS (SCHED_NAME, TRIGGER_NAME,"
                        + " TRIGGER_GROUP, REPEAT_COUNT, REPEAT_INTERVAL, TIMES_TRIGGERED) VALUES ('bench', ?, 'DEFAULT', -1, ?, 0)")) {
            db.setAutoCommit(false);
            for (int i = 0; i < n; i++) {
                long first = startMs + i * spreadMs / n;
                trigger.setString(1, "t" + i);
                trigger.setLong(2, first);
                trigger.setLong(3, first);
                trigger.addBatch();
                simple.setString(1, "t" + i);
                simple.setLong(2, PERIOD_MS);
                simple.addBatch();
            }
            trigger.executeBatch();
            simple.executeBatch();
            db.commit();
        }
    }

    static void enqueue(int n, long dueMs) throws Exception {
        Scheduler scheduler = newSchedulerWithJob();
        SimpleScheduleBuilder once = SimpleScheduleBuilder.simpleSchedule().withMisfireHandlingInstructionIgnoreMisfires();
        long begun = System.nanoTime();
        for (int i = 0; i < n; i++) {
            scheduler.scheduleJob(TriggerBuilder.newTrigger().withIdentity("t" + i).forJob("j").startAt(new Date(dueMs))
                    .withSchedule(once).build());
        }
        System.out.println((System.nanoTime() - begun) / 1e9);
    }

    static void work(String path) throws Exception {
        log = new FileOutputStream(path, true);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                flush();
            } catch (java.io.IOException e) {
                e.printStackTrace();
            }
        }));
        newScheduler().start();
        while (true) {
            Thread.sleep(100);
            flush();
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args[0]) {
            case "schedule" -> schedule(Integer.parseInt(args[1]), Long.parseLong(args[2]), Long.parseLong(args[3]));
            case "enqueue" -> enqueue(Integer.parseInt(args[1]), Long.parseLong(args[2]));
            case "work" -> {
                workMs = Long.parseLong(args[2]);
                work(args[1]);
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.exit(0);
    }
}
