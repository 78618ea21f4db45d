/**
 * A `DurableCluster` is the engine of workflows that several processes share, over one database. Who has which runs, and for
 * how long, is its business alone.
 *
 * @internal
 */
import * as ClusterWorkflowEngine from "@effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "@effect/cluster/RunnerAddress"
import * as ShardingConfig from "@effect/cluster/ShardingConfig"
import * as SingleRunner from "@effect/cluster/SingleRunner"
import * as SqlRunnerStorage from "@effect/cluster/SqlRunnerStorage"
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import type * as SocketServer from "@effect/platform/SocketServer"
import type * as SqlClient from "@effect/sql/SqlClient"
import type * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import type { ConfigError } from "effect/ConfigError"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as DurableInbox from "./DurableInbox.ts"

export interface Address {
  readonly host: string
  readonly port: number
}

export interface Options {
  /** Where other runners reach this one, and its name among them. Port 34431 of `localhost` unless given. */
  readonly address?: Address
  /** Where it listens, if that is another place. */
  readonly listen?: Address
  /** Takes no runs: it starts, tells and awaits those of others. */
  readonly clientOnly?: boolean
  /** How long a runner that says nothing keeps its runs. The same for all runners. 12 seconds unless given, 3 at least. */
  readonly lease?: Duration.DurationInput
  /** How long a runner that ends lets its runs go on, before it leaves them to others. 5 seconds unless given. */
  readonly handover?: Duration.DurationInput
}

/** One number for all runners: a run's place among the shards follows from it. */
const shards = 60

const common = {
  shardsPerGroup: shards,
  entityMessagePollInterval: Duration.seconds(2),
  refreshAssignmentsInterval: Duration.seconds(1)
}

const configOf = (options: Options): Partial<ShardingConfig.ShardingConfig["Type"]> => {
  const { address = { host: "localhost", port: 34_431 }, clientOnly = false, listen } = options
  const lease = Duration.max(Duration.decode(options.lease ?? "12 seconds"), Duration.seconds(3))
  return {
    ...common,
    runnerAddress: clientOnly ? Option.none() : Option.some(RunnerAddress.make(address.host, address.port)),
    runnerListenAddress: Option.map(Option.fromNullable(listen), ({ host, port }) => RunnerAddress.make(host, port)),
    shardLockExpiration: lease,
    shardLockRefreshInterval: Duration.times(lease, 1 / 4),
    // A lock that lasts as long as a connection does would be that of a paused process for ever.
    shardLockDisableAdvisory: true,
    entityTerminationTimeout: Duration.decode(options.handover ?? "5 seconds"),
    runnerHealthCheckInterval: lease
  }
}

export type Failure = ConfigError | SocketServer.SocketServerError

/** One of several runners over a database of PostgreSQL, or with `clientOnly` one who only asks them. */
export const layer = (options: Options): Layer.Layer<WorkflowEngine.WorkflowEngine, Failure, SqlClient.SqlClient> => {
  const shardingConfig = configOf(options)
  const sharding =
    options.clientOnly === true
      ? NodeClusterSocket.layer({ storage: "byo", clientOnly: true, shardingConfig })
      : NodeClusterSocket.layer({ storage: "byo", shardingConfig })
  const storage = Layer.merge(DurableInbox.layer, Layer.orDie(SqlRunnerStorage.layer)).pipe(
    Layer.provide(ShardingConfig.layerFromEnv(shardingConfig))
  )
  return ClusterWorkflowEngine.layer.pipe(Layer.provide(sharding), Layer.provide(storage))
}

/** The only runner over a database, SQLite or PostgreSQL. */
export const layerSingle: Layer.Layer<WorkflowEngine.WorkflowEngine, Failure, SqlClient.SqlClient> = Layer.provide(
  ClusterWorkflowEngine.layer,
  SingleRunner.layer({ runnerStorage: "memory", shardingConfig: common })
)
