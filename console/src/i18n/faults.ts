// What the server says no with, and what it writes as a run's message, in Chinese. The keys are the sentences of the server's own
// source with {} where it fills something in and ' for every quote; {1} {2} … are those in their order. A test reads the source and
// holds this table complete.

import { tWord } from '@/i18n'

export const zhFaults: Record<string, string> = {
	// calls
	'there is no such path': '没有这个地址',
	'this path has no such method': '该地址不支持此方法',
	'the server has more to do than it can; try again in a moment': '服务器忙不过来，请稍后再试',
	'a fault inside the server; its log has the reason': '服务器内部故障；原因见其日志',
	'the database does not answer; try again in a moment': '数据库没有响应，请稍后再试',
	'too many failed sign-ins; wait before the next': '登录失败次数过多，请稍候再试',
	'too many sign-ins at once; try again in a moment': '同时登录的人过多，请稍后再试',
	'this caller has 10 streams open; close one first': '已打开 10 个实时连接，请先关闭一个',
	"'{}' is given twice": '“{1}”给了两次',
	'too many query parameters': '查询参数过多',
	"unknown query parameter '{}'": '未知的查询参数“{1}”',
	'Idempotency-Key must have 1-128 characters': 'Idempotency-Key 须为 1 至 128 个字符',
	'this key was used for another request before': '该键此前用于另一个请求',
	'this call takes no body': '此调用不接受请求体',
	'there is no administrator yet: open the setup link that the server printed': '还没有管理员：请打开服务器打印的设置链接',
	'there is no administrator yet, and so no worker token': '还没有管理员，因此也没有节点令牌',
	'there is an administrator already: sign in': '已有管理员：请登录',
	'this call needs a credential: sign in, or send Authorization: Bearer <token>': '此调用需要凭据：请登录，或发送 Authorization: Bearer <token>',
	'this call needs a credential': '此调用需要凭据',
	'this call needs a worker token (axctl worker token)': '此调用需要节点令牌（axctl worker token）',
	'a worker token reaches only /worker/v1': '节点令牌只能用于 /worker/v1',
	"this call needs the role '{}', you have '{}'": '此操作需要角色 {1}，您的角色是 {2}',
	'a change with the cookie needs the header X-AX-CSRF with the value of GET /session': '凭 cookie 修改时，须带 X-AX-CSRF 请求头，值取自 GET /session',
	'the credential does not belong there': '凭据不应放在那里',
	'the credential is unknown, over or revoked; sign in again': '凭据未知、已过期或已撤销，请重新登录',
	'the answer is too large; ask for less': '结果过大，请缩小范围',
	"there is no {} '{}'": '没有{1}“{2}”',
	'{} must be a number from {} to {}': '{1} 须为 {2} 至 {3} 的数',
	'{} must be true or false': '{1} 须为 true 或 false',
	"{} has no value '{}'": '{1} 没有“{2}”这个值',
	"after must be what 'next' of the page before said": 'after 须为上一页 next 的值',
	'from must be before to': '起点须早于终点',
	'the window must not be longer than 400 days': '范围不能超过 400 天',

	// JSON
	'the JSON is nested deeper than {} levels': 'JSON 嵌套超过 {1} 层',
	'the JSON holds more than {} values': 'JSON 中的值超过 {1} 个',
	'the body cannot be read: {} (line {}, column {})': '无法读取请求体：{1}（第 {2} 行第 {3} 列）',
	'the body must be a JSON object': '请求体须为 JSON 对象',
	'{} must be a JSON object': '{1} 须为 JSON 对象',
	"unknown field '{}'": '未知的字段“{1}”',
	'{} must be a text': '{1} 须为文本',
	'{} must not hold the character U+0000': '{1} 不能含字符 U+0000',
	'{} is longer than {} bytes': '{1} 超过 {2} 字节',
	'{} must be a whole number': '{1} 须为整数',
	'{} must be from {} to {}': '{1} 须在 {2} 至 {3} 之间',
	'{} must be an id: a decimal number written as a text': '{1} 须为编号：写成文本的十进制数',
	'{} must be one of {}': '{1} 须为其中之一：{2}',
	'{} must be an array': '{1} 须为数组',
	'{} holds more than {} items': '{1} 超过 {2} 项',
	'{} holds whole numbers from {} to {}': '{1} 的各项须为 {2} 至 {3} 的整数',
	'{} holds ids: decimal numbers written as texts': '{1} 的各项须为编号：写成文本的十进制数',
	'{} is missing': '缺少 {1}',

	// people and tokens
	'the link was used or is over; the server prints a new one each time it starts': '该链接已使用或已过期；服务器每次启动都会打印新的链接',
	'user must be 1-64 of A-Z a-z 0-9 . _ @ -': '用户名须为 1 至 64 个字符：A-Z a-z 0-9 . _ @ -',
	"the name 'dev' is kept for developer's mode": '名称 dev 保留给开发模式',
	'password must have at least 12 characters': '密码至少 12 个字符',
	'password must not be longer than 256 bytes': '密码不能超过 256 字节',
	"password must differ from the user's name": '密码不能与用户名相同',
	"the user's name or the password is wrong": '用户名或密码不正确',
	'give either once or user and password': '请给出 once，或用户名和密码',
	'this is not the token of the setup link that the server printed when it started': '这不是服务器启动时所打印的设置链接的令牌',
	'a token is no session: delete it under /tokens': '令牌不是会话：请在 /tokens 下删除',
	'worker_groups must name at least one group': 'worker_groups 须至少写明一个分组',
	'worker_groups must be an array of texts': 'worker_groups 须为文本数组',
	'worker_groups must be an array of at most {} texts': 'worker_groups 须为文本数组，至多 {1} 项',
	'name must not be empty': '名称不能为空',
	'a token has either a role or worker_groups': '令牌要么有角色，要么有 worker_groups',
	'role must be viewer, operator, editor or admin': '角色须为 viewer、operator、editor 或 admin',
	'a token is shown once and kept nowhere: it cannot be answered again': '令牌只显示一次且不保存：无法再次给出',
	"there is no token '{}'": '没有令牌“{1}”',

	// tasks
	'there is no task {}': '没有任务 {1}',
	"there is no task '{}'": '没有任务“{1}”',
	'the task is at version {}; read it again': '任务已是版本 {1}，请重新读取',
	'the text is not well-formed UTF-8': '文本不是合法的 UTF-8',
	'the text has {} characters; {} to {} are allowed': '文本有 {1} 个字符，允许 {2} 至 {3} 个',
	'the text has {} bytes; {} are allowed': '文本有 {1} 字节，允许 {2} 字节',
	'no control characters, line breaks or direction marks are allowed': '不能含控制字符、换行或方向标记',
	'a name neither begins nor ends with a blank': '名称首尾不能有空格',
	"an executor key is 1 to 128 of A-Z, a-z, 0-9, '.', '_' and '-'": '执行器须为 1 至 128 个字符：A-Z、a-z、0-9、. _ -',
	'the window of validity ends before it begins': '有效期的结束早于开始',
	"@after counts from the task's own runs and knows no dates; write a cron expression": '@after 从任务自身的运行算起，与日期无关；请写 cron 表达式',
	"@after counts from the task's own runs, which spreads it already; leave the jitter out": '@after 从任务自身的运行算起，本已错开；请去掉错峰',
	'jitter must be shorter than the time between two fires; here they may be {} s apart': '错峰须短于两次触发的间隔；此处间隔可能只有 {1} 秒',
	'only a task with a schedule has a {}; leave it out': '只有带时间表的任务才有 {1}；请去掉',
	'a task with upstreams has no schedule of its own, or it would run twice; leave one of the two out': '有上游的任务没有自己的时间表，否则会运行两次；两者请去掉其一',
	'a task of type scheduled needs a schedule, or upstreams that start it': '定时任务需要时间表，或启动它的上游',
	'retry_backoff list needs at least one wait in seconds': '按列表重试时，至少要写一个间隔（秒）',
	'a run is split into 2 to {} shards; write 0 for one that is not': '一次运行可拆成 2 至 {1} 个分片；不拆分则写 0',
	'a broadcast has a shard for each worker that is online; leave shard_count out': '广播时每个在线节点各有一个分片；请去掉 shard_count',
	'write a time of the day from 00:00 to 23:59': '请写 00:00 至 23:59 的时刻',
	"there is nothing to join: name upstreams, or leave it at 'any'": '没有可汇合的上游：请写明上游，或保留 any',
	'only a task of type event has an event_name; leave it out': '只有事件任务才有 event_name；请去掉',
	'only a task of type event has an event_condition; leave it out': '只有事件任务才有 event_condition；请去掉',
	'the due instant is at most ten years away, in milliseconds since 1970 (UTC)': '到期时刻至多在十年之内，写成自 1970 年起的毫秒数（UTC）',
	'the parameters have {} bytes; {} are allowed': '参数有 {1} 字节，允许 {2} 字节',
	'this schedule has no fire after now{}; write one that has': '该时间表此后没有触发{1}；请改写',
	'{} tasks listen to this event already': '已有 {1} 个任务监听该事件',
	"group '{}' has a task '{}' already": '分组 {1} 中已有任务“{2}”',
	'a task stays in its group; create it anew in the other one': '任务不能换分组；请在另一分组中新建',
	'a task stays in its group: create it anew in the other one': '任务不能换分组；请在另一分组中新建',
	'a task keeps its type; create it anew': '任务不能换类型；请新建',
	'a task keeps its type: create it anew': '任务不能换类型；请新建',
	'{} runs of this task have not ended; cancel them or force the delete': '该任务有 {1} 次运行未结束；请先取消，或强制删除',
	'{}{} runs of this task have not ended; cancel them or force the delete': '该任务有{1} {2} 次运行未结束；请先取消，或强制删除',
	'task {} is being deleted: it takes no change and makes no runs any more': '任务 {1} 正在删除：不再接受更改，也不再生成运行',
	'task {} is being deleted': '任务 {1} 正在删除',
	'the task is being deleted and its runs are being cancelled, a part of them at a time; delete it again when they have ended': '任务正在删除，正在分批取消其运行；它们结束后请再次删除',
	'its late fires are being made up; ask again in a moment': '正在补做其迟到的触发；请稍后再试',
	'the task is being deleted and its {} runs at workers were asked to stop; delete it again when they have': '任务正在删除，并已请求停止节点上的 {1} 次运行；它们停止后请再次删除',
	'only a task of type delay runs later; leave run_at and delay_ms out': '只有延时任务能稍后运行；请去掉 run_at 和 delay_ms',
	'more than {} joins of this task wait for their upstreams, and the change would judge all of them: let some end, or cancel them':
		'该任务有超过 {1} 次汇合运行在等待上游，此更改须逐一重新判断；请等其中一些结束，或取消它们',
	'{} fires wait for the overlap rule and skip would pass over all of them; {} can be at once: let some end, or cancel them':
		'有 {1} 次触发因重叠规则而等待，改为 skip 会全部跳过；一次至多 {2} 次：请等其中一些结束，或取消它们',
	'tasks must hold at least one task': 'tasks 须至少有一个任务',
	'runs must hold at least one run': 'runs 须至少有一次运行',
	'a key has 1 to 128 bytes; leave it out for none': '键须为 1 至 128 字节；不需要则去掉',
	'give either delay_ms or run_at': 'delay_ms 和 run_at 请只给一个',
	'{} is out of range; {} to {} are allowed': '{1} 超出范围，允许 {2} 至 {3}',
	'whole numbers are expected': '须为整数',
	'there are {} numbers; {} are allowed': '有 {1} 个数，允许 {2} 个',
	'write exit codes or HTTP statuses from 0 to 65535 as in 75,500-599': '请写 0 至 65535 的退出码或 HTTP 状态码，如 75,500-599',
	'write an object of at most {} texts, as in {"zone":"a"}': '请写至多 {1} 个文本的对象，如 {"zone":"a"}',
	"{} is each task's own and has no default": '{1} 由各任务自定，没有默认值',

	// schedules
	'The {} field has an empty item: remove the extra comma.': '{1}段中有空项：请去掉多余的逗号。',
	"'?' stands alone and only in the day and weekday fields; write * here.": '? 只能单独用于日和星期两段；此处请写 *。',
	"'{}' cannot be read in the {} field; write for example {}.": '{2}段中的“{1}”无法解读；可写如 {3}。',
	"'{}' is out of range: the {} goes from {} to {}{}.": '“{1}”超出范围：{2}段为 {3} 至 {4}{5}。',
	'A step of 0 never moves: write a step from 1 to {} after the /.': '步长为 0 不会前进：/ 后请写 1 至 {1}。',
	'Step {} is larger than the {} field ({}-{}): write a smaller one, or list the values.': '步长 {1} 超过{2}段的范围（{3}-{4}）：请写小一些，或列出各值。',
	'Step {} is larger than the {} field ({}-{}). For every {} {} use @every {}{}.': '步长 {1} 超过{2}段的范围（{3}-{4}）。要每 {5} {6}一次，请用 @every {7}{8}。',
	"'{}' needs one whole number from 1 to {} after its /, as in */2.": '“{1}”的 / 后须为 1 至 {2} 的一个整数，如 */2。',
	'{} runs backwards, and years do not start again: write the earlier year first.': '{1} 前大后小，而年份不会循环：请把较早的年份写在前面。',
	'{} runs backwards. {} write {}-{},{}-{}.': '{1} 前大后小。{2}请写 {3}-{4},{5}-{6}。',
	"'{}' cannot be read; write L, or L-1 to L-30, with or without W after it.": '“{1}”无法解读；请写 L，或 L-1 至 L-30，其后可加 W。',
	"'{}' cannot be read; W follows one day from 1 to 31, as in 15W, or L, as in LW.": '“{1}”无法解读；W 须在 1 至 31 的某一日之后，如 15W，或在 L 之后，如 LW。',
	"'{}' cannot be read; write a weekday, # and 1 to 5, as in MON#2.": '“{1}”无法解读；请写星期、# 和 1 至 5，如 MON#2。',
	"L alone is no weekday here; write SAT, or FRIL for the month's last Friday.": '此处单独的 L 不是星期；请写 SAT，或用 FRIL 表示当月最后一个周五。',
	'Byte {} is not ASCII (0x{}): write digits 0-9, letters A-Z and plain - , / * in a schedule.': '第 {1} 字节不是 ASCII（0x{2}）：时间表中请用数字 0-9、字母 A-Z 和半角 - , / *。',
	'Byte {} is a control character (0x{}): remove it; blanks separate the fields.': '第 {1} 字节是控制字符（0x{2}）：请去掉；各段以空格分隔。',
	'The schedule is {} bytes long; at most {} are read: split it into several tasks.': '时间表长 {1} 字节，至多 {2} 字节：请拆成多个任务。',
	'The schedule is empty; the number of fields is {}.': '时间表为空；应有 {1} 段。',
	'The schedule has {}{} {}; write {}.': '时间表有{1} {2} {3}；应为 {4} 段。',
	'This {}-field expression gives the weekday as a number. Quartz and XXL-JOB count 1 = Sunday; Spring and node-cron count 1 = Monday. Write the name (MON) or choose the dialect.':
		'这个 {1} 段表达式用数字表示星期。Quartz 和 XXL-JOB 中 1 是周日，Spring 和 node-cron 中 1 是周一。请写名称（MON），或选择方言。',
	'Day-of-month and day-of-week are both ?. Write * in one of them for every day.': '日和星期都是 ?。要表示每天，请在其中一段写 *。',
	'Day-of-month and day-of-week are both set. Put ? in the one you do not need.': '日和星期都已设置。不需要的一段请写 ?。',
	'This schedule never fires: none of its years has such a date. Write other years, or *.': '该时间表永远不会触发：所写年份都没有这个日期。请写其他年份，或 *。',
	'This schedule never fires: its months have no such weekday. Write another month or weekday.': '该时间表永远不会触发：所写月份没有这个星期。请写其他月份或星期。',
	'This schedule never fires: its months are too short for these days before the last. Write a smaller number after L-.': '该时间表永远不会触发：所写月份没有这么多天可倒数。L- 之后请写小一些。',
	'This schedule never fires: none of its months has such a day {}. Write L for the last day of a month, or other months.': '该时间表永远不会触发：所写月份都没有 {1} 日。请用 L 表示当月最后一天，或写其他月份。',
	'This schedule never fires: no {} has {} days. Write L for the last day of the month, or another month.': '该时间表永远不会触发：{1}没有 {2} 天。请用 L 表示当月最后一天，或写其他月份。',
	'This @ word is not known; write @yearly, @monthly, @weekly, @daily, @hourly, @every 1h30m, @after 30s or @at 2027-01-31T09:00:00Z.':
		'不认识的 @ 词；可写 @yearly、@monthly、@weekly、@daily、@hourly、@every 1h30m、@after 30s 或 @at 2027-01-31T09:00:00Z。',
	'@at needs an instant with its offset, such as 2027-01-31T09:00:00+01:00.': '@at 需要带时差的时刻，如 2027-01-31T09:00:00+01:00。',
	'{} needs a time from 1s to 876000h in hours, minutes and seconds, such as 1h30m or 90s.': '{1} 需要 1s 至 876000h 的时长，以时、分、秒写成，如 1h30m 或 90s。',
	'This is not a time zone name; write one like Europe/Berlin or UTC.': '这不是时区名称；请写如 Asia/Shanghai 或 UTC。',
	"the zone data has no zone '{}'; write an IANA name": '时区数据中没有“{1}”；请写 IANA 名称',
	"the zone data has no zone '{}'; write an IANA name such as Europe/Berlin": '时区数据中没有“{1}”；请写 IANA 名称，如 Asia/Shanghai',
	'The data of zone {} are not a TZif file.': '时区 {1} 的数据不是 TZif 文件。',
	'The data of zone {} are of TZif version 1, which ends in 2038; install newer zone data.': '时区 {1} 的数据是 TZif 第 1 版，只到 2038 年；请安装较新的时区数据。',
	'The data of zone {} are damaged.': '时区 {1} 的数据已损坏。',
	"Zone {} counts leap seconds; use the one of the same name without 'right/'.": '时区 {1} 计入闰秒；请用不带 right/ 的同名时区。',

	// parameters of exec and http
	'argv must hold at least the program': 'argv 至少要有程序',
	'argv must be an array of texts': 'argv 须为文本数组',
	'argv[0] must be an absolute path': 'argv[0] 须为绝对路径',
	'{} must be an object of at most {} texts': '{1} 须为至多 {2} 个文本的对象',
	"{} must be an object of texts; '{}' is none": '{1} 须为文本的对象；“{2}”不是文本',
	'{} must be an absolute path': '{1} 须为绝对路径',
	"a task of executor 'exec' has either argv or script": '执行器 exec 的任务须有 argv 或 script 之一',
	"'{}' is no name of a variable": '“{1}”不是变量名',
	"no task may set the variable '{}'{}": '任务不能设置变量“{1}”{2}',
	"'{}' is no name of a header": '“{1}”不是请求头名称',
	"the value of '{}' holds a control character or is too long": '“{1}”的值含控制字符或过长',
	"the header '{}' is set by AX itself": '请求头“{1}”由 AX 自行设置',
	'no status would be a success; leave success out for 200-299': '没有任何状态码算成功；去掉 success 即为 200-299',
	'success must be an array of HTTP statuses, 100-599': 'success 须为 HTTP 状态码数组，100-599',
	'the url cannot be called: {}': '该 URL 无法调用：{1}',
	'the URL cannot be called: {}': '该 URL 无法调用：{1}',
	'method must be one of {}': 'method 须为其中之一：{1}',
	'with send_run the run is the body; leave body out': '有 send_run 时，请求体即该次运行；请去掉 body',
	"biz_param of executor '{}' must be an object, see docs/protocol.md": '执行器 {1} 的参数须为对象，见 docs/protocol.md',
	'it is neither http nor https': '既非 http 也非 https',
	'it holds a user or password; use a header': '其中带有用户名或密码；请改用请求头',
	'it holds an IPv6 zone': '其中带有 IPv6 zone',
	'its host is not a name or an address': '主机不是名称或地址',
	'its port is not a number from 1 to 65535': '端口不是 1 至 65535 的数',
	'it is not a URL': '不是 URL',

	// chains
	'more than {} tasks would hang together in one chain': '相连成链的任务将超过 {1} 个',
	'a task cannot be its own upstream': '任务不能是自己的上游',
	'task {} has {} downstreams already': '任务 {1} 已有 {2} 个下游',
	'task {} is named twice': '任务 {1} 写了两次',
	'{} tasks name it as their upstream: {}{}; change them first': '有 {1} 个任务以它为上游：{2}{3}；请先修改它们',
	'this would be a circle: a run of the task would start the task again': '这会形成循环：任务的运行会再次启动它自己',
	'the chain would be deeper than {} tasks': '链的深度将超过 {1} 个任务',
	"one end of task {} could make {} runs at once; {} are allowed (join 'all' makes one run where ways meet)": '任务 {1} 的一次结束可能同时产生 {2} 次运行，允许 {3} 次（汇合处用 all 只产生一次）',

	// canaries
	'version {} is on trial: promote it or roll it back first': '版本 {1} 正在灰度：请先转正或回滚',
	'version {} is on trial: promote it or roll it back before the next change': '版本 {1} 正在灰度：修改前请先转正或回滚',
	'the trial is the task as it is: change something': '灰度的定义与任务相同：请作些改动',
	'a canary changes executor, parameters, time limits and retries; change {} in the task itself': '灰度可改执行器、参数、时限和重试；{1} 请在任务本身中修改',
	'task {} has no canary': '任务 {1} 没有灰度',
	"task '{}' has no canary": '任务“{1}”没有灰度',
	'the canary of this task has ended already': '该任务的灰度已结束',
	'change must be an object with the fields on trial': 'change 须为对象，含灰度的字段',

	// backfills
	'1 to {} runs may be live at once': '同时进行的运行须为 1 至 {1} 次',
	'there are more than {} fires; take a part of them': '触发超过 {1} 次；请分段补跑',
	"the task's rule has no fire from there to there": '任务的规则在该范围内没有触发',
	'only scheduled tasks have fires of their own': '只有定时任务才有自己的触发',
	'the fires of @after follow from its runs and have no past': '@after 的触发取决于其运行，没有过去的触发',
	'there is no backfill {}': '没有补跑 {1}',
	"there is no backfill '{}'": '没有补跑“{1}”',
	'the backfill is over already': '该补跑已结束',

	// runs
	'there is no run {}': '没有运行 {1}',
	"there is no run '{}'": '没有运行“{1}”',
	"there is no state '{}'": '没有状态“{1}”',
	"there is no kind '{}'": '没有触发方式“{1}”',
	'a run that is {} does not take {}': '{1}的运行不接受 {2}',
	'the run has ended already ({})': '该运行已结束（{1}）',
	"none of the run's shards is RETRYING": '该运行没有待重试的分片',
	'only a run that is RETRYING can be retried now; this one is {}{}': '只有待重试的运行才能立即重试；它的状态是{1}{2}',
	'the task of this run was deleted': '该运行的任务已删除',
	'run {} repeats these shards already ({})': '运行 {1} 已在重跑这些分片（{2}）',
	'this is shard {} of run {}; rerun that one, with failed_only if need be': '这是运行 {2} 的第 {1} 个分片；请重跑该运行，必要时仅重跑失败的分片',
	'the run has no shard that did not succeed': '该运行没有未成功的分片',
	'only a delayed run that is not due yet can be changed; this one is {}': '只有尚未到期的延时运行才能修改；它的状态是{1}',
	'the run has not ended ({}); cancel it, or wait': '该运行尚未结束（{1}）；请取消它，或等待',
	'the schedule that demanded these fires is not known any more': '当时要求这些触发的时间表已无从得知',
	'{} fires were missed; at most {} can be run at once: run the newest, or start a backfill of them': '错过了 {1} 次触发，一次至多运行 {2} 次：请只运行最新一次，或对其补跑',
	'only a MISSED run asks for a decision; this one is {}': '只有已错过的运行才需要决定；它的状态是{1}',
	'the clock went back: these fires lie in the future now': '时钟已回拨：这些触发现在位于将来',
	'this was decided already: {}': '已有决定：{1}',
	'that fire has a run already': '该触发已有运行',
	'there already is a run {}; try again': '已有运行 {1}，请重试',
	"this call is for a server of another store than this one's": '该请求属于另一数据库的服务端',
	'all {} server numbers are taken': '{1} 个服务端编号都已占用',
	'the number {} of this server is another one\'s': '该服务端的编号 {1} 属于另一个服务端',
	'this server could not renew the lease on its number for {} s, and starts nothing until it can': '该服务端已有 {1} 秒无法续订其编号的租约，在此之前不启动任何运行',

	// calendars
	"a calendar's name is 1 to {} of A-Z, a-z, 0-9, '.', '_' and '-'": '日历名称须为 1 至 {1} 个字符：A-Z、a-z、0-9、. _ -',
	"there is a calendar '{}' already": '已有日历“{1}”',
	"there is no calendar '{}'": '没有日历“{1}”',
	"there is no calendar '{}'; create it first": '没有日历“{1}”；请先新建',
	"calendar '{}' has no version {}": '日历“{1}”没有版本 {2}',
	'the calendar is at version {}; read it again': '日历已是版本 {1}，请重新读取',
	"tasks use the calendar '{}': {}{}": '有任务使用日历“{1}”：{2}{3}',
	'week lists weekdays: sun, mon, tue, wed, thu, fri, sat': 'week 列出星期：sun、mon、tue、wed、thu、fri、sat',
	"'{}' is no date such as 2025-10-01": '“{1}”不是日期，应如 2025-10-01',
	'a CSV file says itself what its dates are; leave kind out': 'CSV 文件自带日期的类别；请去掉 kind',
	'a calendar has at most {} exceptions; replace the old ones': '日历至多有 {1} 个例外；请替换已有的',
	'line {}: a calendar has at most {} exceptions': '第 {1} 行：日历至多有 {2} 个例外',
	'line {}: dates are of the years {} to {}': '第 {1} 行：日期须在 {2} 至 {3} 年',
	'line {}: a label is UTF-8 of at most {} bytes without control characters': '第 {1} 行：说明须为至多 {2} 字节、不含控制字符的 UTF-8',
	'line {}: {} is {} here and {} in line {}': '第 {1} 行：{2} 在此为 {3}，在第 {5} 行为 {4}',
	'line {}: no date': '第 {1} 行：没有日期',
	'line {}: neither in nor out': '第 {1} 行：既非计入也非不计入',
	'line {}: write date,kind,label; a label with commas or quotes stands in quotes, its own doubled': '第 {1} 行：请写 date,kind,label；说明含逗号或引号时须加引号，其中的引号写两个',
	"line {}: '{}' is no date such as 2025-10-01": '第 {1} 行：“{2}”不是日期，应如 2025-10-01',
	"line {}: '{}' is no kind; write in, out, workday or holiday": '第 {1} 行：“{2}”不是类别；请写 in、out、workday 或 holiday',
	'line {}: this is no text': '第 {1} 行：不是文本',
	'line {}: this is no line of an iCalendar file': '第 {1} 行：不是 iCalendar 文件的内容',
	'line {}: {} is not of a whole day; only dates such as DTSTART;VALUE=DATE:20251001 are read': '第 {1} 行：{2} 不是整天；只读取日期，如 DTSTART;VALUE=DATE:20251001',
	"line {}: '{}' is no date of the years 1970 to 2199": '第 {1} 行：“{2}”不是 1970 至 2199 年的日期',
	'line {}: an event lasts from 1 to {} days': '第 {1} 行：一个事件持续 1 至 {2} 天',
	"line {}: the duration '{}' is not one of whole days, such as P3D": '第 {1} 行：时长“{2}”不是整天，应如 P3D',
	"line {}: the repetition '{}={}' is not understood": '第 {1} 行：不支持重复规则“{2}={3}”',
	"line {}: the repetition '{}' is not understood": '第 {1} 行：不支持重复规则“{2}”',
	'line {}: DTSTART must stand before RRULE': '第 {1} 行：DTSTART 须在 RRULE 之前',
	'line {}: DTSTART must stand before DTEND': '第 {1} 行：DTSTART 须在 DTEND 之前',
	'line {}: of repetitions only FREQ=YEARLY is understood': '第 {1} 行：重复规则只支持 FREQ=YEARLY',
	'line {}: the event has no DTSTART': '第 {1} 行：事件没有 DTSTART',
	"line {}: the special day '{}' is not understood": '第 {1} 行：不认识特殊日“{2}”',
	'line {}: {} is not understood': '第 {1} 行：不支持 {2}',
	'line {}: {}:{} is not understood': '第 {1} 行：不支持 {2}:{3}',
	'line {}: BEGIN:{} is not understood here': '第 {1} 行：此处不支持 BEGIN:{2}',
	'line {}: END:{} ends nothing': '第 {1} 行：END:{2} 没有对应的开始',
	'line {}: an iCalendar file begins with BEGIN:VCALENDAR': '第 {1} 行：iCalendar 文件以 BEGIN:VCALENDAR 开头',
	'line {}: the file is empty': '第 {1} 行：文件为空',
	'line {}: the file ends within a component': '第 {1} 行：文件在组件中间结束',

	// conditions of events
	"'in' takes an array of 1 to 64 texts, numbers, true, false or null": 'in 须为 1 至 64 项的数组，各项为文本、数、true、false 或 null',
	'write a text, a number, true, false or null to compare with': '请写用于比较的文本、数、true、false 或 null',
	"'exists' takes true, false or no value": 'exists 取 true、false 或不带值',
	'an order is there only among numbers and among texts': '只有数之间、文本之间才能比大小',
	'op is one of eq, ne, in, exists, lt, le, gt, ge': 'op 须为 eq、ne、in、exists、lt、le、gt、ge 之一',
	'a test has field, op and value, and nothing else': '每项测试只有 field、op 和 value',
	'an item is an object: a test, or {"any": [tests]}': '每项须为对象：一项测试，或 {"any": [测试]}',
	'a condition has at most 32 tests': '条件至多有 32 项测试',
	'a field is a JSON pointer of at most 256 bytes, such as /order/total': 'field 须为至多 256 字节的 JSON 指针，如 /order/total',
	"an item with 'any' has nothing else": '含 any 的项不能有其他内容',
	"'any' is an array of at least one test": 'any 须为至少一项测试的数组',
	'a condition is an array of tests that must all hold, or null': '条件须为数组，其中的测试须全部成立；或为 null',

	// events
	'an event id has at most {} bytes': '事件编号至多 {1} 字节',
	'an event id has 1 to {} bytes; leave it out for none': '事件编号须为 1 至 {1} 字节；不需要则去掉',
	'the payload has {} bytes; {} are allowed': '载荷有 {1} 字节，允许 {2} 字节',
	"there is no event '{}'": '没有事件“{1}”',

	// alerts and channels
	'there is no alert {}': '没有告警 {1}',
	"there is no alert '{}'": '没有告警“{1}”',
	'the alert is resolved already': '该告警已解除',
	'state must be open or resolved': '状态须为 open 或 resolved',
	"there is no rule '{}'": '没有规则“{1}”',
	"a channel's name is 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a letter or digit": '渠道名称须为 1 至 64 个字符：a-z、0-9、. _ -，并以字母或数字开头',
	"there is a channel '{}' already": '已有渠道“{1}”',
	'there is no channel {}': '没有渠道 {1}',
	"there is no channel '{}'": '没有渠道“{1}”',
	'there are {} channels; more are not allowed': '已有 {1} 个渠道，不能再多',
	'the channel is at version {}; read it again': '渠道已是版本 {1}，请重新读取',
	'quiet hours are times of the day, 00:00 to 23:59': '免打扰须为 00:00 至 23:59 的时刻',
	'quiet hours that end when they begin are none or all day; leave them out, or disable the channel': '免打扰的开始与结束相同，等于没有或全天；请去掉，或停用该渠道',
	'quiet hours that end when they begin are none or all day; write null, or disable the channel': '免打扰的开始与结束相同，等于没有或全天；请去掉，或停用该渠道',
	'reminders come every {} to {} seconds; 0: never': '提醒间隔须为 {1} 至 {2} 秒；0 表示不提醒',
	'{} is a list of names': '{1} 须为名称列表',
	'{} is a time of the day such as 22:30': '{1} 须为时刻，如 22:30',
	'settings is an object': '设置须为对象',
	'the settings are an object': '设置须为对象',
	'the settings have at most {} bytes': '设置至多 {1} 字节',
	'a channel of this kind has no such setting': '此类渠道没有这项设置',
	'a channel of this kind needs it': '此类渠道需要这项设置',
	'the value is of the wrong type': '值的类型不对',
	'no control characters or line breaks are allowed': '不能含控制字符或换行',
	'at most 50 are allowed': '至多 50 个',
	'at most 1,024 bytes are allowed': '至多 1,024 字节',
	'write tls, starttls or none': '请写 tls、starttls 或 none',
	'a port is a number from 1 to 65535': '端口须为 1 至 65535 的数',
	'a host is a name or an address, without a port': '主机须为名称或地址，不带端口',
	'a password needs security tls or starttls': '使用密码时，加密须为 tls 或 starttls',
	'write a plain address such as ax@example.org': '请写普通的邮件地址，如 ax@example.org',
	'name at least one recipient': '请至少写明一个收件人',
	'this cannot be the value of a header': '这不能用作请求头的值',

	// failure groups
	'there is no failure group {}': '没有失败组 {1}',
	"there is no failure group '{}'": '没有失败组“{1}”',
	'the group is resolved; reopen it first': '该分组已解决；请先重新打开',
	'a mute ends in the future': '静音的结束须在将来',
	'state must be open, muted or resolved': '状态须为 open、muted 或 resolved',
	'say why: whoever wonders why nobody was told will read it': '请说明原因：疑惑为何没有通知的人会读到它',
	'give an assignee, a note, or both': '请填写负责人、备注，或两者',

	// groups and workers
	"there is no group '{}'": '没有分组“{1}”',
	"there is no group '{}'; create it first": '没有分组“{1}”；请先新建',
	"there is a group '{}' already": '已有分组“{1}”',
	"group '{}' has tasks or runs; delete its tasks first": '分组“{1}”还有任务或运行；请先删除其任务',
	"the group 'default' stays": '分组 default 不能删除',
	'the group is at version {}; read it again': '分组已是版本 {1}，请重新读取',
	"a group key is 1 to 64 of a-z, 0-9, '.', '_' and '-', and begins with a letter or digit": '分组的键须为 1 至 64 个字符：a-z、0-9、. _ -，并以字母或数字开头',
	'the quota is 1 to 100,000 runs': '配额须为 1 至 100,000 次运行',
	'the pool size is 1 to 10,000 runs': '池大小须为 1 至 10,000 次运行',
	'the share of long runs is 1 to 100 percent': '长任务的份额须为 1% 至 100%',
	'the backlog of a worker is 1 to 30,000 runs, or 0 for three times its pool': '单个节点的持有上限须为 1 至 30,000 次运行；0 表示池大小的三倍',
	'runs are kept for 1 to 3,650 days, or 0 for as long as the server keeps them': '运行保留 1 至 3,650 天；0 表示按服务端设置',
	'of each task 1 to 10,000 runs are kept, or 0 for all': '每个任务保留 1 至 10,000 次运行；0 表示全部',
	'the defaults have at most {} bytes': '默认值至多 {1} 字节',
	'the contacts have at most {} bytes': '联系人至多 {1} 字节',
	"'{}' is neither the name of a channel nor a mail address": '“{1}”既非渠道名称，也非邮件地址',
	'contacts holds names of channels and mail addresses': '联系人须为渠道名称和邮件地址',
	"there is no worker '{}'": '没有节点“{1}”',
	"worker '{}' has left": '节点“{1}”已退出',
	"worker '{}' is still there; drain and stop it first": '节点“{1}”仍在；请先排空并停止它',
	'this worker is not registered here: register first': '该节点尚未在此注册：请先注册',
	'another incarnation of this worker took over': '该节点的另一个实例已接管',
	'a newer incarnation of this worker took over': '该节点较新的实例已接管',
}

/** What server and ax-worker themselves write where tasks and people write, too: the message of a run that no worker spoke of, why a canary ended,
 * why a message did not arrive; and what is said of a fire near a change of the clocks. */
export const zhMessages: Record<string, string> = {
	'{} of {} shards did not succeed; shard {} {}': '{2} 个分片中有 {1} 个未成功；第 {3} 个分片{4}',
	'{} of {} shards did not succeed; shard {} {}: {}': '{2} 个分片中有 {1} 个未成功；第 {3} 个分片{4}：{5}',
	'run {} of {} ended as {}': '任务 {2} 的运行 {1} 结束，状态为{3}',
	'run {} of this task was still {}': '该任务的运行 {1} 当时仍为{2}',
	"not all upstreams had succeeded by the join's deadline": '到汇合期限时，上游未全部成功',
	'the worker did not end it in time; the server\'s hard limit passed': '节点未按时结束它；已超过服务端硬性时限',
	'the overlap rule became skip while it waited for another run of its task': '它等待同一任务的另一次运行时，重叠规则改为 skip',
	'the worker that was asked to stop it is gone; its lease ended': '被要求停止它的节点已失联；租约已到期',
	'the run whose shards it repeats was deleted': '它所重跑的分片所属的运行已删除',
	'its task was changed and has no upstreams any more': '其任务已修改，不再有上游',

	'{} of its {} runs failed; {} of {} did before': '灰度 {2} 次运行中失败 {1} 次；原定义 {4} 次中失败 {3} 次',
	'failures {} % against {} %, p95 {} ms against {} ms': '失败率 {1}%，原定义 {2}%；95% 耗时 {3} 毫秒，原定义 {4} 毫秒',
	'failures {} % against {} %': '失败率 {1}%，原定义 {2}%',
	'failures {} %, nothing to compare with': '失败率 {1}%，没有可比较的对象',
	'no worker offers executor {}: run {} has waited for one for {} minutes': '没有节点提供执行器 {1}：运行 {2} 已等待 {3} 分钟',

	'exit status {}': '退出码 {1}',
	'exit status {}: {}': '退出码 {1}：{2}',
	'ended by signal {}': '被信号 {1} 终止',
	'ended by signal {}: {}': '被信号 {1} 终止：{2}',
	'time limit of {} s reached': '达到 {1} 秒的时限',
	'time limit reached before the answer was complete': '答复完成之前达到时限',
	'HTTP status {}': 'HTTP 状态码 {1}',
	'HTTP status {}: {}': 'HTTP 状态码 {1}：{2}',
	'this worker does not let tasks call that address': '该节点不允许任务访问该地址',
	'the answer is longer than 10 MiB': '答复超过 10 MiB',
	"the target's certificate is not valid for it": '目标的证书对它无效',
	'the target could not be reached': '未能连上目标',
	'cancelled before it began': '开始之前已取消',
	'the worker could not start a thread': '节点无法启动线程',
	"the worker cannot make the attempt's folder: {}": '节点无法创建该次尝试的目录：{1}',
	'the worker cannot start ax-exec: {}': '节点无法启动 ax-exec：{1}',
	'the working directory (cwd) cannot be entered: {}': '无法进入工作目录（cwd）：{1}',
	'the program cannot be run: {}': '无法运行该程序：{1}',
	"the worker's policy does not list the program {}": '节点的本地策略未列出程序 {1}',
	"the worker's policy does not list the folder {}": '节点的本地策略未列出目录 {1}',
	"the worker's policy does not list the user {}": '节点的本地策略未列出用户 {1}',
	'a task may not set the environment variable {}': '任务不能设置环境变量 {1}',
	'there is no user {} on the worker': '节点上没有用户 {1}',
	'no task runs as root': '任务不能以 root 运行',

	'the channel is off': '渠道已停用',
	'the alert is gone': '告警已不存在',
	'the alert was muted': '告警已静音',
	'the receiver answered HTTP {}': '接收方答复 HTTP {1}',
	'the receiver answered HTTP {}: {}': '接收方答复 HTTP {1}：{2}',
	'the receiver refused it: {}': '接收方拒收：{1}',
	'the mail server refused the login': '邮件服务器拒绝登录',
	'the mail server does not offer STARTTLS': '邮件服务器不支持 STARTTLS',
	'the mail server refused it with code {}': '邮件服务器拒收，代码 {1}',
	'this server does not call that address': '本服务端不访问该地址',
	"the receiver's certificate is not valid for it": '接收方的证书对它无效',
	"the receiver's answer is too long": '接收方的答复过长',
	"the receiver's host name has no address": '接收方的主机名没有地址',
	'the receiver could not be reached in time': '未能及时连上接收方',
	'no answer: {}': '没有答复：{1}',

	'{}: the clock moves from {} to {} on this day.': '{1}：当天时钟从 {2} 拨至 {3}。',
	'{}: the clock moves from {} back to {} on this day.': '{1}：当天时钟从 {2} 拨回 {3}。',
	'{}: {} does not exist on this day; the task runs at {} {}, when the clock moves forward.': '{1}：当天不存在 {2}；任务在时钟前拨的 {3} {4} 触发。',
	'{}: {} occurs twice; the task runs at the first ({}).': '{1}：{2} 出现两次；任务在第一次（{3}）触发。',
	'{}: this interval task runs through both passes of {}-{}.': '{1}：{2}-{3} 出现两遍，按间隔的任务两遍都触发。',
	'{}: the task does not run from {} to {}: these times do not exist on this day.': '{1}：{2} 至 {3} 不触发：当天不存在这些时刻。',
	'{}: an exception of the calendar leaves this day out.': '{1}：日历的例外略去了这一天。',
	'{}: an exception of the calendar leaves this day out ({}).': '{1}：日历的例外略去了这一天（{2}）。',
	'{}: an exception of the calendar lets this day in.': '{1}：日历的例外计入了这一天。',
	'{}: an exception of the calendar lets this day in ({}).': '{1}：日历的例外计入了这一天（{2}）。',
}

/** What the server fills in: words and ends of sentences that it puts together. */
const words: Record<string, string> = {
	' within its calendar and validity': '（在其日历和有效期内）',
	': rerun it instead': '；请改为再次运行',
	': set it inside the script': '；请在脚本内设置',
	' (1 is Sunday)': '（1 是周日）',
	' (0 and 7 are Sunday)': '（0 和 7 是周日）',
	' and more': ' 等',
	'more than ': '超过',
	'at least ': '至少',
	'In 5-field cron': '在 5 段 cron 中',
	'In this dialect': '在此方言中',
	': ': '：',
	second: '秒', minute: '分', hour: '时', day: '日', month: '月', weekday: '星期', year: '年',
	seconds: '秒', minutes: '分钟', hours: '小时', days: '天',
	field: '段', fields: '段',
	January: '一月', February: '二月', March: '三月', April: '四月', May: '五月', June: '六月', July: '七月', August: '八月',
	September: '九月', October: '十月', November: '十一月', December: '十二月',
	alert: '告警', backfill: '补跑', channel: '渠道', event: '事件', run: '运行', task: '任务', 'failure group': '失败组',
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

interface Template {
	pattern: RegExp
	chinese: string
}

const oneQuote = (text: string): string => text.replaceAll('`', "'").replaceAll('"', "'")
const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Those with holes, the most literal first, so that "{} is missing" is not taken for what says more. */
function templates(table: Record<string, string>): Template[] {
	return Object.entries(table)
		.filter(([english]) => english.includes('{}'))
		.sort(([a], [b]) => b.replaceAll('{}', '').length - a.replaceAll('{}', '').length)
		.map(([english, chinese]) => ({ pattern: new RegExp(`^${oneQuote(english).split('{}').map(escape).join('(.*?)')}$`, 's'), chinese }))
}

function reader(table: Record<string, string>): (english: string) => string | null {
	const whole = new Map(Object.entries(table).map(([english, chinese]) => [oneQuote(english), chinese]))
	const withHoles = templates(table)
	return (english) => {
		const plain = oneQuote(english)
		const known = whole.get(plain)
		if (known !== undefined) return known
		for (const { pattern, chinese } of withHoles) {
			const found = pattern.exec(plain)
			if (found) return chinese.replace(/\{(\d)\}/g, (_, n: string) => filled(found[Number(n)] ?? ''))
		}
		return null
	}
}

const readFault = reader(zhFaults)
const readMessage = reader(zhMessages)

function filled(value: string): string {
	if (/^[A-Z]{6,10}$/.test(value)) return tWord('state', value)
	const date = /^(\d+) ([A-Z][a-z]{2})(?: ([\d:]+))?$/.exec(value)
	if (date) return `${MONTHS.indexOf(date[2]!) + 1} 月 ${date[1]} 日${date[3] ? ` ${date[3]}` : ''}`
	return words[value] ?? zhFaults[value] ?? readMessage(value) ?? value
}

/** The server's sentence in Chinese; null when it is new to us, or somebody else's words. */
export function faultText(english: string): string | null {
	return readFault(english)
}

/** The message of a run in Chinese; as it is when a worker or a person said it. */
export function messageText(english: string): string {
	return readMessage(english) ?? english
}
