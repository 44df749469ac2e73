import { createServer, type RequestListener } from 'node:http'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { administrationRoutes, dashboardApiRoutes } from './accounts/accountsRoutes.ts'
import { deadLetterRoutes } from './accounts/operator/deadLetterRoutes.ts'
import { statusRoutes } from './accounts/operator/statusRoutes.ts'
import { tenantRoutes } from './accounts/operator/tenantRoutes.ts'
import { archiveRoutes } from './activation/archives/archiveRoutes.ts'
import { budgetRoutes } from './activation/campaigns/budgetRoutes.ts'
import { campaignRoutes } from './activation/campaigns/campaignRoutes.ts'
import { deliveryRoutes } from './activation/campaigns/deliveryRoutes.ts'
import { performanceRoutes } from './activation/campaigns/performanceRoutes.ts'
import { exportsRoutes } from './activation/exports/exportsRoutes.ts'
import { integrationsRoutes } from './activation/integrations/integrationsRoutes.ts'
import { visitAlertRoutes } from './activation/visitAlerts/visitAlertRoutes.ts'
import { webhooksRoutes } from './activation/webhooks/webhooksRoutes.ts'
import { alertsRoutes } from './analytics/alerts/alertsRoutes.ts'
import { analyticsRoutes } from './analytics/analyticsRoutes.ts'
import { sharesRoutes } from './analytics/shares/sharesRoutes.ts'
import { unlockRoute } from './analytics/shares/unlockRoute.ts'
import { summariesRoutes } from './analytics/summaries/summariesRoutes.ts'
import { hasTestKey } from './api/access/authenticate.ts'
import { guardRoutes } from './api/access/guard.ts'
import { healthRoutes } from './api/health/healthRoutes.ts'
import { metricsRoutes } from './api/health/metricsRoutes.ts'
import { answerClientError, answerError, refuseEncodedBody } from './api/http/answerErrors.ts'
import { compressAnswer } from './api/http/compression.ts'
import { refuseSeveralHosts } from './api/http/hostHeader.ts'
import { parseJsonBodies } from './api/http/jsonBody.ts'
import { measureRequests } from './api/http/measureRequests.ts'
import { buildSerializer } from './api/http/serialization.ts'
import { requireStrictTransport } from './api/http/strictTransport.ts'
import { createRefuseUnknown } from './api/http/unknownRoutes.ts'
import { validatorCompiler } from './api/http/validation.ts'
import { pathOf } from './api/http/versionPaths.ts'
import { describeRoutes } from './api/openapi/openapi.ts'
import { audiencesRoutes } from './audiences/audiencesRoutes.ts'
import { batchRoute } from './audiences/intent/batchRoute.ts'
import { rulesRoutes } from './audiences/intent/rulesRoutes.ts'
import { statsRoutes } from './audiences/intent/statsRoutes.ts'
import { topicRoutes } from './audiences/intent/topicRoutes.ts'
import { importRoutes } from './audiences/lists/importRoutes.ts'
import { listRoutes } from './audiences/lists/listRoutes.ts'
import { removeRoute } from './audiences/lists/removeRoute.ts'
import { uploadRoutes } from './audiences/lists/uploadRoutes.ts'
import { fieldCatalogRoutes } from './audiences/taxonomy/fieldCatalogRoutes.ts'
import { taxonomyRoutes } from './audiences/taxonomy/taxonomyRoutes.ts'
import { forecastRoute } from './billing/forecastRoute.ts'
import { limitsRoutes } from './billing/limitsRoutes.ts'
import { pricesRoute } from './billing/pricesRoute.ts'
import { logRequests } from './billing/requests/requestLog.ts'
import { requestsRoutes } from './billing/requests/requestsRoutes.ts'
import { usageRoutes } from './billing/usageRoutes.ts'
import { duties } from './config.ts'
import { answerUnknownRoute, dashboardPages } from './dashboard/dashboardPages.ts'
import { docsPages } from './dashboard/docsSite/docsPages.ts'
import { contactRoutes } from './events/contact/contactRoutes.ts'
import { eventsRoutes } from './events/eventsRoutes.ts'
import { legacyRoutes } from './events/legacy/legacyRoutes.ts'
import { companyLookupRoute } from './events/lookup/companyLookupRoute.ts'
import { cookieLookupRoute } from './events/lookup/cookieLookupRoute.ts'
import { lookupRoutes } from './events/lookup/lookupRoutes.ts'
import { rejectedRoutes } from './events/rejected/rejectedRoutes.ts'
import { windowDeletionRoutes } from './events/repair/windowDeletionRoutes.ts'
import { statisticsRoutes } from './events/statistics/statisticsRoutes.ts'
import { traceRoute } from './events/traceRoute.ts'
import { visitorsRoutes } from './events/visitors/visitorsRoutes.ts'
import { erasureRoutes } from './identity/privacy/erasureRoutes.ts'
import { exportRoute } from './identity/privacy/exportRoute.ts'
import { linkRemovalRoutes } from './identity/privacy/linkRemovalRoutes.ts'
import { optOutRoutes } from './identity/privacy/optOutRoutes.ts'
import { beaconsBeforeRouter } from './ingest/beacon/fastPath.ts'
import { resendRoute } from './ingest/beacon/resendRoute.ts'
import { ingestRoutes } from './ingest/ingestRoutes.ts'
import type { Ingest } from './ingest/openIngest.ts'
import { isSitePath } from './ingest/sitePaths.ts'
import { shopRoutes } from './ops/demo/shopRoutes.ts'
import { openConnectionsMax } from './platform/descriptors.ts'
import { inTrace } from './platform/traceContext.ts'
import type { Services } from './services.ts'

/** Creates the server of FOOTFALL_METRICS_PORT, which serves only the metrics. */
export async function createMetricsApp({ config, metrics }: Services): Promise<FastifyInstance> {
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.setErrorHandler(answerError)
  app.addHook('onRequest', refuseSeveralHosts)
  app.setNotFoundHandler(createRefuseUnknown(app))
  await app.register(metricsRoutes(config, metrics))
  return app
}

/** The service as a Fastify instance. The list of mounted parts is its table of contents. */
export async function createApp(services: Services): Promise<FastifyInstance> {
  const { config, ingest, demoPixel } = services
  const { answersReads } = duties[config.role]
  const app = newInstance(services)
  if (answersReads) requireStrictTransport(app, services.publicUrl, isSitePath)
  const refuseUnknown = createRefuseUnknown(app)
  app.setNotFoundHandler(
    answersReads ? answerUnknownRoute(services.publicUrl, refuseUnknown) : refuseUnknown,
  )

  app.decorateRequest('charge')
  app.decorateRequest('freeAnswer')
  app.decorateRequest('errorCode', null)
  measureRequests(app)
  guardRoutes(app, services.guard)
  if (services.requestLog) logRequests(app, services.requestLog)
  app.addHook('onSend', compressAnswer)
  await describeRoutes(app, services.publicUrl)
  await app.register(healthRoutes(services.notReady))
  if (config.metricsPort === null) await app.register(metricsRoutes(config, services.metrics))
  if (ingest) await mountIngest(app, services, ingest)
  if (answersReads) {
    await mountReads(app, services)
    await mountAccounts(app, services)
    await mountActivation(app, services)
  }
  if (demoPixel)
    await app.register(shopRoutes({ pixel: demoPixel, clickhouse: services.clickhouse.live }))
  return app
}

/** The routes that receive events of pages and DSPs. */
async function mountIngest(app: FastifyInstance, services: Services, ingest: Ingest) {
  const { postgres, collectorUrl } = services
  const { logs, optOuts, locate } = ingest
  await app.register(ingestRoutes(ingest, collectorUrl))
  await app.register(resendRoute(ingest, postgres))
  await app.register(deliveryRoutes({ postgres, log: logs.events, optOuts, locate }))
}

/** Mounts events, figures, audiences and billing. */
async function mountReads(app: FastifyInstance, services: Services) {
  await app.register(eventsRoutes(services))
  await app.register(traceRoute(services))
  await app.register(visitorsRoutes(services))
  await app.register(legacyRoutes(services))
  await app.register(lookupRoutes(services))
  await app.register(companyLookupRoute(services))
  await app.register(cookieLookupRoute(services))
  await app.register(contactRoutes(services))
  await app.register(statisticsRoutes(services))
  await app.register(rejectedRoutes(services))
  await app.register(windowDeletionRoutes(services))
  await app.register(analyticsRoutes(services))
  await app.register(unlockRoute(services))
  await app.register(alertsRoutes(services))
  await app.register(sharesRoutes(services, services.publicUrl))
  await app.register(audiencesRoutes(services))
  await app.register(batchRoute(services))
  await app.register(topicRoutes(services))
  await app.register(statsRoutes(services))
  await app.register(rulesRoutes(services))
  await app.register(usageRoutes(services))
  await app.register(forecastRoute(services))
  await app.register(limitsRoutes(services))
  await app.register(pricesRoute(services))
  await app.register(requestsRoutes(services))
  await app.register(fieldCatalogRoutes)
  await app.register(taxonomyRoutes(services))
}

/** Organizations, their people, and the dashboard. */
async function mountAccounts(app: FastifyInstance, services: Services) {
  const { postgres, sendMail } = services
  await app.register(administrationRoutes(services))
  await app.register(erasureRoutes(services))
  await app.register(exportRoute(services))
  await app.register(optOutRoutes(services))
  await app.register(linkRemovalRoutes(services))
  await app.register(dashboardApiRoutes(services))
  await app.register(summariesRoutes({ postgres, sendsMail: sendMail !== null }))
  await app.register(statusRoutes(services))
  await app.register(tenantRoutes(services))
  await app.register(deadLetterRoutes(services))
  await app.register(dashboardPages(services))
  await app.register(docsPages(services.publicUrl, services.collectorUrl))
}

/** Mounts sources and destinations of data. */
async function mountActivation(app: FastifyInstance, services: Services) {
  await app.register(listRoutes(services))
  await app.register(importRoutes(services))
  await app.register(removeRoute(services))
  await app.register(uploadRoutes(services))
  await app.register(campaignRoutes(services))
  await app.register(performanceRoutes(services))
  await app.register(budgetRoutes(services))
  await app.register(webhooksRoutes(services))
  await app.register(visitAlertRoutes(services))
  await app.register(archiveRoutes(services))
  await app.register(integrationsRoutes(services))
  await app.register(exportsRoutes(services))
}

/** An instance without routes: errors, and how bodies are read and checked. */
function newInstance(services: Services): FastifyInstance {
  const { config, log } = services
  const app = Fastify({
    serverFactory: (route) => newServer(services, route),
    loggerInstance: log as FastifyBaseLogger,
    // One line per request would cost more than taking the beacon; /metrics counts them.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.trustedProxies.length > 0 ? config.trustedProxies : false,
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    bodyLimit: bodyBytesMax,
    // A client that does not read its answer must not hold up the end.
    forceCloseConnections: 'idle',
    // Requests during the stop are answered and end their connection: stores close after the last answer. A
    // balancer that reacts to network errors would pass a 503 on.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true },
    rewriteUrl: ({ url }) => pathOf(url!),
    schemaController: { compilersFactory: { buildSerializer } },
    frameworkErrors: answerError,
    clientErrorHandler: answerClientError,
  })
  // Bodies are JSON; the ingest routes say for themselves what else they take.
  app.removeContentTypeParser('text/plain')
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    // Also errors that precede the check of the key: an unknown route, a missing secret.
    if (hasTestKey(request)) reply.header('x-svc-mode', 'test')
    const { traceparent } = request.headers
    inTrace(typeof traceparent === 'string' ? traceparent : undefined, done)
  })
  app.addHook('onRequest', refuseSeveralHosts)
  parseJsonBodies(app)
  app.addHook('preParsing', refuseEncodedBody)
  app.setErrorHandler(answerError)
  app.setValidatorCompiler(validatorCompiler)
  return app
}

/** Most bytes of a body, where a route does not say otherwise. */
const bodyBytesMax = 1024 * 1024

/** The HTTP server, with its limits of connections. A plain beacon is answered before `route`, the router. */
function newServer(
  { config, log, idleConnectionMs, headTimeoutMs, ingest }: Services,
  route: RequestListener,
) {
  const server = createServer({
    // A client that sends its headers or its request slower than this is cut off.
    headersTimeout: headTimeoutMs,
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    // How often connections are looked at whether they are over these times.
    connectionsCheckingInterval: headTimeoutMs / 2,
  })
  server.setTimeout(idleConnectionMs)
  server.maxConnections = openConnectionsMax(config.connectionsMax)
  const { trustedProxies } = config
  const isOpen = () => server.listening
  return server.on(
    'request',
    ingest ? beaconsBeforeRouter(ingest, { trustedProxies, log, route, isOpen }) : route,
  )
}
