import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { AccountsDeps } from './accounts/deps.ts'
import type { OperatorDeps } from './accounts/operator/deps.ts'
import { operatorRoutes } from './accounts/operator/routes.ts'
import { administrationRoutes, dashboardApiRoutes } from './accounts/routes.ts'
import { deliveryRoutes } from './activation/campaigns/deliveryRoutes.ts'
import type { CampaignsDeps, DeliveryDeps } from './activation/campaigns/deps.ts'
import { campaignsRoutes } from './activation/campaigns/routes.ts'
import { exportsRoutes } from './activation/exports/routes.ts'
import type { IntegrationsDeps } from './activation/integrations/deps.ts'
import { integrationsRoutes } from './activation/integrations/routes.ts'
import type { WebhooksDeps } from './activation/webhooks/deps.ts'
import { webhooksRoutes } from './activation/webhooks/routes.ts'
import { analyticsRoutes } from './analytics/routes.ts'
import { sharesRoutes } from './analytics/shares/routes.ts'
import { summariesRoutes } from './analytics/summaries/routes.ts'
import { type GuardDeps, guardRoutes } from './api/access/guard.ts'
import { metricsRoutes } from './api/health/metricsRoutes.ts'
import { healthRoutes } from './api/health/routes.ts'
import { answerClientError, answerError, refuseEncodedBody } from './api/http/answerErrors.ts'
import { compressAnswer } from './api/http/compression.ts'
import { refuseSeveralHosts } from './api/http/hostHeader.ts'
import { parseJsonBodies } from './api/http/jsonBody.ts'
import { measureRequests } from './api/http/measureRequests.ts'
import { buildSerializer } from './api/http/serialization.ts'
import { createRefuseUnknown } from './api/http/unknownRoutes.ts'
import { validatorCompiler } from './api/http/validation.ts'
import { pathOf } from './api/http/versionPaths.ts'
import { describeRoutes } from './api/openapi/openapi.ts'
import { openFiles } from './audiences/files/open.ts'
import { intentRoutes } from './audiences/intent/routes.ts'
import type { ListsDeps } from './audiences/lists/deps.ts'
import { listsRoutes } from './audiences/lists/routes.ts'
import { audiencesRoutes } from './audiences/routes.ts'
import { fieldCatalogRoutes } from './audiences/taxonomy/fieldCatalogRoutes.ts'
import { taxonomyRoutes } from './audiences/taxonomy/taxonomyRoutes.ts'
import { logRequests, type RequestLog } from './billing/requests/requestLog.ts'
import { requestsRoutes } from './billing/requests/routes.ts'
import { billingRoutes } from './billing/routes.ts'
import type { Config } from './config.ts'
import { answerUnknownRoute, dashboardPages } from './dashboard/routes.ts'
import { contactRoutes } from './events/contact/routes.ts'
import { legacyRoutes } from './events/legacy/routes.ts'
import { companyLookupRoute } from './events/lookup/company.ts'
import { cookieLookupRoute } from './events/lookup/cookie.ts'
import { lookupRoutes } from './events/lookup/routes.ts'
import type { ReadDeps } from './events/query/deps.ts'
import { rejectedRoutes } from './events/rejected/routes.ts'
import { eventsRoutes } from './events/routes.ts'
import { statisticsRoutes } from './events/statistics/routes.ts'
import { traceRoute } from './events/traceRoute.ts'
import { visitorsRoutes } from './events/visitors/routes.ts'
import { privacyRoutes } from './identity/privacy/routes.ts'
import { type IngestDeps, ingestRoutes } from './ingest/ingestRoutes.ts'
import { takeBeaconsInFront } from './ingest/wire/fastPath.ts'

export interface AppDeps {
  config: Config
  log: FastifyBaseLogger
  /** Why the process should get no requests now; null when it should. */
  notReady: () => string | null
  /** How long a connection may stay without a byte, a reader's too; default a minute. */
  idleConnectionMs?: number
  /** The numbers of all processes of this machine, as Prometheus text. */
  metrics: () => Promise<string>
  /** Who may ask what. */
  guard: GuardDeps
  /** Where requests to the API are logged; absent: nowhere. */
  requestLog?: RequestLog | undefined
  /** Absent where FOOTFALL_ROLE is api. */
  ingest?: IngestDeps | undefined
  /** Absent where FOOTFALL_ROLE is api. */
  delivery?: DeliveryDeps | undefined
  /** Absent where FOOTFALL_ROLE is ingest. */
  read?: ReadDeps | undefined
  /** Absent where FOOTFALL_ROLE is ingest. */
  accounts?: AccountsDeps | undefined
  /** Absent where FOOTFALL_ROLE is ingest. */
  operator?: OperatorDeps | undefined
  /** Absent where FOOTFALL_ROLE is ingest. */
  lists?: ListsDeps | undefined
  /** Absent where FOOTFALL_ROLE is ingest. */
  campaigns?: CampaignsDeps | undefined
  /** Absent where FOOTFALL_ROLE is ingest. */
  webhooks?: WebhooksDeps | undefined
  /** Absent where FOOTFALL_ROLE is ingest. */
  integrations?: IntegrationsDeps | undefined
}

/** What answers FOOTFALL_METRICS_PORT, where it is set: the metrics and nothing else. */
export async function createMetricsApp({
  config,
  metrics,
}: Pick<AppDeps, 'config' | 'metrics'>): Promise<FastifyInstance> {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.setErrorHandler(answerError)
  app.addHook('onRequest', refuseSeveralHosts)
  app.setNotFoundHandler(createRefuseUnknown(app))
  await app.register(metricsRoutes(config, metrics))
  return app
}

/** The service as a Fastify instance: the list of what it mounts is the table of contents. */
export async function createApp({
  config,
  log,
  notReady,
  idleConnectionMs = 60_000,
  metrics,
  guard,
  requestLog,
  ingest,
  delivery,
  read,
  accounts,
  operator,
  lists,
  campaigns,
  webhooks,
  integrations,
}: AppDeps): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: log,
    // One line per request would cost more than taking the beacon; /metrics counts them.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    connectionTimeout: idleConnectionMs,
    requestTimeout: 30_000,
    // How often connections are looked at whether they are over these times.
    http: { connectionsCheckingInterval: 5_000 },
    bodyLimit: bodyBytesMax,
    // A client that does not read its answer must not hold up the end.
    forceCloseConnections: 'idle',
    // What is still asked as it stops is answered, and ends its connection: stores are closed after the last answer. A
    // balancer that looks for an error of the network would hand a 503 on.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    rewriteUrl: ({ url }) => pathOf(url!),
    schemaController: { compilersFactory: { buildSerializer } },
    frameworkErrors: answerError,
    clientErrorHandler: answerClientError,
  })
  // Bodies are JSON; the ingest routes say for themselves what else they take.
  app.removeContentTypeParser('text/plain')
  app.addHook('onRequest', refuseSeveralHosts)
  parseJsonBodies(app)
  app.addHook('preParsing', refuseEncodedBody)
  app.setErrorHandler(answerError)
  app.setValidatorCompiler(validatorCompiler)
  const refuseUnknown = createRefuseUnknown(app)
  app.setNotFoundHandler(
    accounts ? answerUnknownRoute(accounts.publicUrl, refuseUnknown) : refuseUnknown,
  )

  app.decorateRequest('charge')
  app.decorateRequest('errorCode', null)
  measureRequests(app)
  guardRoutes(app, guard)
  if (requestLog) logRequests(app, requestLog)
  app.addHook('onSend', compressAnswer)
  await describeRoutes(app, config.publicUrl)
  await app.register(healthRoutes(notReady))
  if (config.metricsPort === null) await app.register(metricsRoutes(config, metrics))
  if (ingest) await app.register(ingestRoutes(ingest, config.collectorUrl))
  if (delivery) await app.register(deliveryRoutes(delivery))
  if (read) {
    await app.register(eventsRoutes(read))
    await app.register(traceRoute(read))
    await app.register(visitorsRoutes(read))
    await app.register(legacyRoutes(read))
    await app.register(lookupRoutes(read))
    await app.register(companyLookupRoute(read))
    await app.register(cookieLookupRoute(read))
    await app.register(contactRoutes(read))
    await app.register(statisticsRoutes(read))
    await app.register(rejectedRoutes(read))
    await app.register(analyticsRoutes(read))
    await app.register(sharesRoutes(read, config.publicUrl))
    await app.register(audiencesRoutes({ ...read, ...(await openFiles(config, read.cursors)) }))
    await app.register(intentRoutes(read))
    await app.register(billingRoutes(read))
    await app.register(requestsRoutes(read))
    await app.register(fieldCatalogRoutes)
    await app.register(taxonomyRoutes(read))
  }
  if (accounts) {
    await app.register(administrationRoutes(accounts))
    await app.register(privacyRoutes(accounts))
    await app.register(dashboardApiRoutes(accounts))
    await app.register(
      summariesRoutes({ postgres: accounts.postgres, sendsMail: accounts.sendMail !== null }),
    )
    if (operator) await app.register(operatorRoutes(operator))
    await app.register(dashboardPages(accounts))
  }
  if (lists) await app.register(listsRoutes(lists))
  if (campaigns) await app.register(campaignsRoutes(campaigns))
  if (webhooks) await app.register(webhooksRoutes(webhooks))
  if (integrations) {
    await app.register(integrationsRoutes(integrations))
    await app.register(exportsRoutes(integrations))
  }
  if (ingest) takeBeaconsInFront(app, ingest, config.trustedProxies)
  return app
}

/** Most bytes of a body, where a route does not say otherwise. */
const bodyBytesMax = 1024 * 1024
