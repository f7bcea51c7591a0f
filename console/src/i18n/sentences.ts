// Sentences of the server's, in Chinese: the steps of a why, a run's timeline, alerts, what failures have in common. The names and their parameters are those of
// src/core/sentence.def, which has the English; a test holds the two against each other. What stands in [ ] is left out when a
// parameter in it is not there.

import type { Alert } from '@/api'
import { currentLang, tFault, tMessage, tWord, type Params } from '@/i18n'
import { durationText } from '@/lib/time'

const attempt = '第 {attempt} 次尝试（fence {fence}）于 {at} 派发给 {worker}，'
const ended = '于 {at} 结束，状态为{state}[，共重试 {retries} 次、丢失 {losses} 次]：'
const newest = '在此之前的最近事件 {event}[（{id}）] 由 {by} 于 {at} 发送，'

export const zhSentences: Record<string, string> = {
	backfill: '由补跑 {backfill} 补做 {fire} 的触发，按任务在 {at} 的规则。',
	chain: '它跟随 {states}。',
	covers_late: '除自身外，它还代表 {from} 至 {to} 的另外 {n} 次触发：发现时已晚，按错过规则合并到它。',
	covers_waited: '除自身外，它还代表 {from} 至 {to} 的另外 {n} 次触发：它们到期时它仍在等待，按重叠规则合并到它。',
	delay: '于 {asked} 提出，要求在 {due} 运行[，带键 {key}：再次使用该键得到的仍是这次运行]。',
	event: '事件 {event}[（{id}）] 由 {by} 于 {at} 发送，任务监听该事件。',
	event_gone: '由事件 {id} 引起，该事件已不再保留。',
	fire: '它代表 {fire} 的触发，由 {since} 起的规则（{schedule}，{zone}，规则第 {epoch} 期）要求。',
	fire_undemanded: '它代表 {fire} 的触发，而 {since} 起的规则（{schedule}，{zone}，规则第 {epoch} 期）并未要求。',
	fire_unknown: '它代表 {fire} 的触发；当时要求它的规则已无从得知。',
	jitter: '任务的抖动使它推后 {late_ms}，在 {at} 到期。',
	join: '它汇合各上游在批次 {batch} 中的结果：{states}。',
	late: '生成晚了 {late_ms}，在 {at}：到期时没有服务在工作[；其中一个于 {started} 启动]。',
	made_up: '这次触发曾被错过，由人决定补做。',
	manual: '由人于 {asked} 手动触发[，带键 {key}：再次使用该键得到的仍是这次运行]。',
	missed_fires: '它代表 {from} 至 {to} 的 {n} 次错过的触发。',
	on_time: '到期后 {late_ms} 生成。',
	rerun: '由人作为运行 {run} 的重跑生成[，带键 {key}：再次使用该键得到的仍是这次运行]。',
	shard: '它是运行 {run} 的第 {shard} 个分片，共 {total} 个[，只给节点 {worker}]。',
	trial: '它执行任务的版本 {version}，该版本自 {since} 起灰度（执行器 {executor}）。',
	trial_over: '它执行任务的版本 {version}，该版本曾在 {since} 至 {until} 灰度[：{reason}]。',

	attempts: '已结束 {n} 次尝试，以下是最近 {shown} 次。',
	attempt_bounced: `${attempt}{took_ms} 后仍未被接受（码 {code}[：{message}]）：收回，不计为一次尝试（连续第 {used} 次，至多 {limit} 次）。`,
	attempt_ended: `${attempt}{took_ms} 后结束（码 {code}[：{message}]）：第 {used} 次重试[，至多 {limit} 次][，{wait_ms} 后进行]。`,
	attempt_failed: `${attempt}{took_ms} 后失败（码 {code}[：{message}]）：第 {used} 次重试[，至多 {limit} 次][，{wait_ms} 后进行]。`,
	attempt_hard_limit: `${attempt}{took_ms} 后超过服务端硬性时限（码 {code}[：{message}]）：第 {used} 次重试[，至多 {limit} 次][，{wait_ms} 后进行]。`,
	attempt_lost: `${attempt}{took_ms} 后丢失（码 {code}[：{message}]）：第 {used} 次丢失[，至多 {limit} 次]，重新派发[，{wait_ms} 后进行]。`,
	attempt_stopped: `${attempt}{took_ms} 后被中止（码 {code}[：{message}]）：第 {used} 次丢失[，至多 {limit} 次]，重新派发[，{wait_ms} 后进行]。`,
	attempt_timeout: `${attempt}{took_ms} 后超时（码 {code}[：{message}]）：第 {used} 次重试[，至多 {limit} 次][，{wait_ms} 后进行]。`,
	given_out: '第 {attempt} 次尝试（fence {fence}）于 {at} 派发给 {worker}。',
	late_result: '{worker} 迟报了 fence {fence} 的结果：{outcome}（码 {code}[：{message}]）；仅作记录，不改变任何状态。',
	late_success: '{worker} 迟报了 fence {fence} 的结果：{outcome}（码 {code}[：{message}]）；此后无人再领取这次运行，因此有效。',
	started: '派发后 {after_ms}，{worker} 开始执行。',

	accepted: '它在 {worker} 上，已被接受、尚未开始；若没有心跳，租约在 {at} 到期。',
	cancelling_not_told: '已请求停止（{reason}）：尚未通知其节点。',
	cancelling_stopped: '已请求停止（{reason}）：节点已停止它。',
	cancelling_told: '已请求停止（{reason}）：已通知其节点。',
	overran: '它超过了 expected_seconds。',
	overran_or_late: '它超过了 expected_seconds，或在 {until} 前仍未结束。',
	progress: '进度为 {percent}%[：{message}]，已有 {for_ms}。',
	stalled: '进度为 {percent}%[：{message}]，已有 {for_ms}：超过 stall_seconds 的允许。',
	stalled_silent: '已有 {for_ms} 未报告进度：超过 stall_seconds 的允许。',
	not_accepted_yet: '它在 {worker} 上，尚未被接受；否则在 {at} 收回。',
	not_due_yet: '在 {at} 到期，还有 {in_ms}。',
	retrying: '下一次尝试在 {at}，还有 {in_ms}。',
	running: '已在 {worker} 上运行 {for_ms}；最近一次心跳在 {beat_ms} 前，没有时限。',
	running_limited: '已在 {worker} 上运行 {for_ms}；最近一次心跳在 {beat_ms} 前，服务端将在 {limit} 结束它。',
	shards: '开始于 {for_ms} 前，随最后一个分片结束：{states}。',
	shard_waits: '第 {shard} 个分片（运行 {run}）在等待，其情况是：',
	upstreams: '等待 {tasks} 在其批次中成功，直到 {until}。',

	backlog: '可执行它的 {workers} 个节点中有 {room} 个有余量。',
	backlog_full: '可执行它的 {workers} 个节点都已持有上限数量的运行（[每个 {limit}][池大小 × {factor}]）。',
	claim: '即将派发，在节点下一次轮询时（最迟每 {seconds} 秒一次）。',
	group_not_paused: '分组 {group} 未暂停。',
	group_paused: '分组 {group} 已暂停；恢复前不派发其任何运行。',
	lane: '它在长任务通道，该通道可占分组 {group} 的 {share}%：{most} 个中已派发 {out} 个，{workers} 个节点中有 {room} 个有余量。',
	lane_full: '它在长任务通道，该通道可占分组 {group} 的 {share}%：{most} 个中已派发 {out} 个，{workers} 个节点中有 {room} 个有余量；等待某个长任务结束。',
	overlap_ended: '重叠规则 {overlap} 曾挡住它，它所等待的运行刚刚结束。',
	overlap_free: '重叠规则为 {overlap}：没有同一任务的其他运行挡住它。',
	overlap_held: '等待运行 {run}（{state}[，在 {worker} 上]）结束：重叠规则为 {overlap}，同时至多 {allowed} 次运行，现有 {live} 次。',
	quota: '分组 {group} 的配额 {quota} 个中已派发 {out} 个。',
	quota_full: '分组 {group} 的配额 {quota} 个中已派发 {out} 个：配额已用完，等待其中一个结束。',
	route: '路由选定的节点 {worker} 没有余量；到 {at} 可由次选节点执行。',
	spread: '即将在 {at} 生成分片。',
	tags: '其中 {matching} 个带有标签 {tags}。',
	tags_none: '提供 {executor} 的 {workers} 个节点都没有标签 {tags}。',
	task_not_paused: '任务未暂停。',
	task_deleting: '任务正在删除；其运行会被取消。',
	task_paused: '任务自 {since} 起暂停；其运行等待恢复。',
	task_paused_by_hand: '任务已暂停，但不影响手动触发的运行。',
	worker: '分组 {group} 在线的 {serving} 个节点中有 {offering} 个提供执行器 {executor}。',
	worker_none: '分组 {group} 没有在线节点（{seconds} 秒内有联系，且未在排空或停用）。',
	worker_none_offers: '没有节点提供执行器 {executor}：分组 {group} 有 {serving} 个节点在线，但都不提供。',

	end_backfill_cancelled: `${ended}生成它的补跑被人取消[：{message}]。`,
	end_blocked: `${ended}某个上游未成功[：{message}]。`,
	end_cancelled: `${ended}被人取消[：{message}]。`,
	end_dismissed: `${ended}被人忽略[：{message}]。`,
	end_failed: `${ended}最后一次尝试失败，已无重试[：{message}]。`,
	end_hard_limit: `${ended}超时和宽限期已过而节点没有回音，已无重试[：{message}]。`,
	end_join_deadline: `${ended}没有等到各上游[：{message}]。`,
	end_lost: `${ended}节点失联，且不能再次丢失[：{message}]。`,
	end_missed: `${ended}需由人决定：run、run_all 或 dismiss[：{message}]。`,
	end_missed_run: `${ended}由人补做了其触发[：{message}]。`,
	end_nothing_to_rerun: `${ended}没有可重跑的内容[：{message}]。`,
	end_not_retried: `${ended}最后一次尝试的失败码不在 retry_on 之列[：{message}]。`,
	end_no_upstreams: `${ended}已没有可等待的上游[：{message}]。`,
	end_refused: `${ended}节点的本地策略禁止，因此不重试[：{message}]。`,
	end_replaced: `${ended}被更新的触发取代（重叠规则 replace）[：{message}]。`,
	end_shards_cancelled: `${ended}有人取消了它的一个分片[：{message}]。`,
	end_shards_failed: `${ended}有一个分片失败[：{message}]。`,
	end_shards_late: `${ended}没有分片失败，但有一个超时或丢失[：{message}]。`,
	end_skipped_misfire: `${ended}这次触发发现得太晚[：{message}]。`,
	end_skipped_overlap: `${ended}重叠规则为 skip[：{message}]。`,
	end_success: `${ended}工作已完成[：{message}]。`,
	end_task_deleted: `${ended}其任务被人删除[：{message}]。`,
	end_timeout: `${ended}最后一次尝试超时，已无重试[：{message}]。`,
	end_worker_stopped: `${ended}节点停机，且不能再次丢失[：{message}]。`,
	broken_at: '链条在任务 {task} 的运行 {run} 处中断，其状态为{state}[：{message}]。',
	failure_group: '它是失败组 {id}（{failure_state}）的 {n} 次失败之一，首次见于 {at}[：{title}]。',
	upstreams_missing: '在其批次中未见成功：{tasks}。',

	duplicate: '运行 {run}（{state}）也代表 {fire} 的触发：同一次触发出现不同的运行编号是故障。',
	made_up_of: '运行 {run}（{state}）也代表 {fire} 的触发：一个把它与其他触发合并计数，另一个是由人补做的运行。',
	one_fire: '一次触发，一次运行：相同编号再次出现是这次运行的重试；这次触发若出现另一个编号，则是故障。',
	one_fire_shard: '它是其触发的唯一运行的一部分：相同编号再次出现是这个分片的重试。',
	one_request: '一次请求，一次运行：相同编号再次出现是这次运行的重试，另一个编号则是另一次请求。',
	rerun_by: '运行 {run}（{state}）是它的重跑。',

	before_task: '在 {at} 任务还没有时间表；任务创建于 {created}。',
	being_made: '{fire} 的触发此刻到期。',
	calendar_in: '调度时间 {at} 不触发：其日期在日历 {calendar} 版本 {version} 之内[（{label}）]，按日历排除。',
	calendar_out: '调度时间 {at} 不触发：其日期不在日历 {calendar} 版本 {version} 之内[（{label}）]。',
	duplicates: '有 {n} 次运行代表 {fire} 的触发：同一次触发出现不同的运行编号是故障。',
	enabled: '任务已启用。',
	event_ran: `${newest}生成了运行 {run}。`,
	exhausted: '时间表 {schedule} 不再有触发。',
	fire_after: '其后的下一次触发在 {fire}[（{note}）]。',
	fire_after_disabled: '其后的下一次触发在 {fire}[（{note}）]，前提是届时任务已启用。',
	fire_became: '{fire} 的触发成为运行 {run}（{state}）[，由补跑 {backfill} 生成][：{message}]。',
	fire_counted: '{fire} 的触发合并在运行 {run}（{state}）[，由补跑 {backfill} 生成][：{message}]。',
	fire_not_due: '{fire} 的触发尚未到期，还有 {in_ms}。',
	gap: '{fire} 没有触发[（{note}）]。',
	gap_disabled: '{fire} 没有触发[（{note}）]，即使届时任务已启用。',
	had_no_schedule: '任务从 {from} 起没有时间表；其运行按请求生成，或在其他任务成功后生成。[到 {until} 为止没有运行。][到 {at} 为止最近的是运行 {run}（{state}）。]',
	never_enabled: '任务已创建但从未启用：恢复前不生成运行。',
	newest_fire: '{at} 或之前最近的触发是 {fire}[（{note}）]，按 {since} 起的规则（{schedule}，{zone}）。',
	next_fire: '下一次触发在 {at}。',
	next_fire_after: '下一次触发在当前运行结束时确定（@after）。',
	nothing: '{fire} 的触发没有任何记录：这是故障，除非其运行已按保留期删除。',
	not_enabled: '任务从 {from} 起尚未启用，因此不要求任何触发。',
	not_enabled_fire: '任务从 {from} 起尚未启用，因此不要求 {fire} 的触发。',
	no_fire_yet: '从 {from} 到 {to} 时间表没有触发。',
	no_schedule: '任务没有时间表；其运行按请求生成[，并在以下任一任务成功后生成：{any_of}][，并在以下任务全部成功后生成：{all_of}]。[到 {until} 为止没有运行。][到 {at} 为止最近的是运行 {run}（{state}）。]',
	no_schedule_event: '任务没有时间表；由事件 {event} 触发[，并在以下任一任务成功后生成：{any_of}][，并在以下任务全部成功后生成：{all_of}]。[到 {until} 为止没有运行。][到 {at} 为止最近的是运行 {run}（{state}）。]',
	passed_over: `${newest}没有生成运行：任务当时没有监听它。`,
	passed_over_condition: `${newest}没有生成运行：其内容不满足任务的条件。`,
	passed_over_created: `${newest}没有生成运行：任务从未启用。`,
	passed_over_deleting: `${newest}没有生成运行：任务当时正在删除。`,
	passed_over_known: `${newest}没有生成运行：任务此前已有该事件的运行。`,
	passed_over_paused: `${newest}没有生成运行：任务当时已暂停。`,
	deleting: '任务自 {since} 起正在删除：不再生成运行；最后一次运行结束后再次删除即消失。',
	paused: '任务自 {since} 起暂停：恢复前不生成运行。',
	scheduler_late: '{fire} 的触发到期已 {late_ms}，仍未生成：调度落后。',
	task: '任务 {task} {status}，版本 {version}[：{schedule}，{zone}]。',
	unschedulable: '无法解读其时间表，因此没有触发：{fault}。',
	valid_from: '调度时间 {at} 不触发：任务自 {from} 起有效。',
	valid_until: '调度时间 {at} 不触发：任务有效至 {until}。',
	was_paused: '任务从 {from} 起暂停，因此不要求任何触发。',
	was_paused_fire: '任务从 {from} 起暂停，因此不要求 {fire} 的触发。',

	line_attempt_ended: '{outcome}[：{message}]',
	line_created: '{kind}，任务版本 {version}',
	line_created_late: '{kind}，到期后 {late_ms}',
	line_dispatched: '第 {attempt} 次尝试派发给 {worker}，fence {fence}',
	line_due: '时刻已到',
	line_ended: '{state}[：{message}]',
	line_late_report: '{worker} 在尝试结束后才报告：{outcome}；仅作记录，未应用',
	line_retry_due: '下一次尝试',
	line_split: '已生成分片 1 至 {total}',
	line_started: '{worker} 开始执行',

	alert_absence: '已有 {for_ms} 没有成功，应在 {allowed_ms} 内成功一次[；最近的运行是 {run}]。',
	alert_backlog: '分组中有 {n} 次运行等待超过 {wait_ms}，允许 {allowed} 次。',
	alert_failed: '运行 {run} 失败[，在节点 {worker} 上]，代码 {code}[：{message}]。',
	alert_failed_hard_limit: '运行 {run} 超过服务端硬性时限[，在节点 {worker} 上]：超时和宽限期已过，而节点没有回音。',
	alert_failed_lost: '运行 {run} 丢失[，在节点 {worker} 上]：节点失联或停机，且不能再次丢失。',
	alert_failed_not_retried: '运行 {run} 失败[，在节点 {worker} 上]，代码 {code} 不在重试之列[：{message}]。',
	alert_failed_refused: '运行 {run} 被节点[ {worker} ]的本地策略拒绝[：{message}]。',
	alert_failed_shards: '运行 {run} 有分片未成功[：{message}]。',
	alert_failed_timeout: '运行 {run} 超时[，在节点 {worker} 上][：{message}]。',
	alert_failure_back: '解决之后再次出现：至今 {n} 次，最近是运行 {run}[，在节点 {worker} 上]，代码 {code}。',
	alert_failure_grows: '正在增长：至今 {n} 次，最近是运行 {run}[，在节点 {worker} 上]，代码 {code}。',
	alert_failure_new: '首次出现：至今 {n} 次，最近是运行 {run}[，在节点 {worker} 上]，代码 {code}。',
	alert_failure_unmuted: '静音到期后仍在发生：至今 {n} 次，最近是运行 {run}[，在节点 {worker} 上]，代码 {code}。',
	alert_late_finish: '运行 {run} 已执行 {for_ms}，预期 {allowed_ms}[；它最近的报告：{message}]。',
	alert_late_given: '运行 {run} 到期后 {late_ms} 才派发，允许 {allowed_ms}。',
	alert_late_waits: '运行 {run} 到期已 {late_ms}，仍未派发；允许 {allowed_ms}。',
	alert_missed: '有 {n} 次触发迟于 {window_ms} 才被发现；由运行 {run} 代表，等待人来决定。',
	alert_not_ended: '运行 {run} 应在 {late_ms} 前结束[；它最近的报告：{message}]。',
	alert_stalled: '运行 {run} 已有 {for_ms} 没有进展，允许 {allowed_ms}[；它最近的报告：{message}]。',
	alert_unschedulable: '无法解读其时间表，因此没有触发：{fault}',
	alert_worker_lost: '节点 {worker} 最近一次联系在 {for_ms} 前，应至少每 {allowed_ms} 一次。',
	over_attempt: '该次尝试已结束',
	over_backlog: '目前有 {n} 次运行等待',
	over_by_hand: '由 {who} 解除',
	over_calm: '十分钟内没有失败',
	over_decided: '错过的触发都已有决定',
	over_moves: '又有了进展',
	over_muted: '由 {who} 静音：{reason}',
	over_none_left: '已没有待决定的错过触发',
	over_not_expected: '任务不再需要运行',
	over_on_time: '十分钟内没有迟到',
	over_quiet: '不再失败',
	over_readable: '其时间表可以解读了',
	over_run_ended: '运行已结束',
	over_succeeded: '运行 {run} 成功',
	over_task_deleted: '任务已删除',
	over_time_again: '任务又有了时间',
	over_worker_back: '节点已恢复联系',
	over_worker_forgotten: '节点已被移除',
	over_worker_left: '节点已退出',

	hint_all_tasks: '分组中使用执行器 {executor}、此后运行过的 {tasks} 个任务全部如此失败，每个至少一次。',
	hint_one_task: '此后运行过的 {tasks} 个使用执行器 {executor} 的任务中，仅 {task} 如此失败。',
	hint_one_worker: '{n} 次失败全部发生在节点 {worker}，但这段时间其他节点几乎没有运行过这些任务（见到 {elsewhere} 次成功），不能说明 {worker} 有问题。',
	hint_only_worker: '仅发生在节点 {worker}：{n} 次失败全部在此，而同样的任务在其他节点成功 {elsewhere} 次，在 {worker} 成功 {here} 次。',
	hint_since_version: '自任务的版本 {version} 起出现：此前的版本从未如此失败，成功过 {before} 次；版本 {version} 及之后成功 {since} 次。',
	hint_some_tasks: '此后运行过的 {tasks} 个使用执行器 {executor} 的任务中，有 {failing} 个如此失败。',
	advice_all_tasks: '看看这些任务有何共同之处：所调用的服务、凭据、执行器本身。',
	advice_only_worker: '看看 {worker} 有何特别：磁盘、网络、文件、本地策略。用 `axctl worker drain {worker}` 可使新的运行避开它。',
	advice_since_version: '将版本 {version} 与其前一版本比较（任务 {id}）。',
}

/** What a parameter is called here: spans of time, and the server's words. */
function shown(name: string, value: string | number): string {
	if (name.endsWith('_ms')) return durationText(Number(value))
	const word = String(value)
	if (name === 'state' || name === 'states') return word.replace(/\b[A-Z]{4,}\b/g, (state) => tWord('state', state))
	if (name === 'outcome') return tWord('outcome', word)
	if (name === 'kind') return tWord('kind', word)
	if (name === 'status') return tWord('taskStatus', word)
	if (name === 'failure_state') return tWord('failureState', word)
	if (name === 'fault') return tFault(word)
	if (name === 'message' || name === 'note' || name === 'title') return tMessage(word)
	if (name === 'reason') return tMessage(tWord('reason', word))
	return word
}

export function fillSentence(text: string, params: Params): string {
	const value = (name: string) => (params[name] === undefined || params[name] === '' ? null : shown(name, params[name]))
	const fill = (part: string, missing: string) => part.replace(/\{(\w+)\}/g, (_, name: string) => value(name) ?? missing)
	return fill(
		text.replace(/\[([^\]]*)\]/g, (_, part: string) => ([...part.matchAll(/\{(\w+)\}/g)].every((hole) => value(hole[1]!) !== null) ? part : '')),
		'–',
	)
}

/** The sentence in the viewer's language; one that is new to us in English. */
export function sentenceText(said: { text: string; sentence: string | null; params: Params }): string {
	const own = currentLang.value === 'zh' && said.sentence ? zhSentences[said.sentence] : undefined
	return own === undefined ? said.text : fillSentence(own, said.params)
}

/** What an alert is about, what was seen, and how it ended. The subject of failures of one kind is what their runs said. */
export const alertSubject = (alert: Alert): string => (alert.rule === 'failure_group' ? tMessage(alert.subject) : alert.subject)
export const alertText = (alert: Alert): string => sentenceText({ text: alert.detail, sentence: alert.detail_sentence, params: alert.detail_params })
export const alertEnd = (alert: Alert): string =>
	sentenceText({ text: alert.resolve_note, sentence: alert.resolve_note_sentence, params: alert.resolve_note_params })
