#!/usr/bin/env node
// kafkajs as its users use it. Usage: kafkajs_client.mjs BOOTSTRAP
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import SnappyCodec from 'kafkajs-snappy'
import zstd from '@bokuweb/zstd-wasm'

const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = kafkajs
await zstd.init()
CompressionCodecs[CompressionTypes.Snappy] = SnappyCodec
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => Buffer.from(zstd.compress(encoder.buffer, 3)),
  decompress: async buffer => Buffer.from(zstd.decompress(buffer)),
})

const run = `kafkajs-${randomUUID().slice(0, 8)}`
const kafka = new Kafka({ clientId: run, brokers: process.argv[2].split(','), logLevel: logLevel.NOTHING })
const admin = kafka.admin()
// It looks at its group only between fetches, which wait for 5 s where there is nothing: as long as a rebalance waits for it.
const prompt = { maxWaitTimeInMs: 500, rebalanceTimeout: 10_000 }

let passed = 0
let failed = 0
async function check(name, body) {
  const began = Date.now()
  try {
    await body()
    passed++
    console.log(`PASS ${name} (${Date.now() - began} ms)`)
  } catch (trouble) {
    failed++
    console.log(`FAIL ${name}: ${trouble.stack}`)
  }
}

const create = (topic, numPartitions = 1) => admin.createTopics({ topics: [{ topic, numPartitions }], waitForLeaders: true })

async function produce(topic, messages, { options = {}, send = {} } = {}) {
  const producer = kafka.producer(options)
  await producer.connect()
  await producer.send({ topic, messages, acks: -1, ...send })
  await producer.disconnect()
}

/** Reads until `count` records came and then a second more, for those that should not come. */
async function take(topic, count, { groupId = `${run}-${randomUUID()}`, readUncommitted = false, seconds = 30 } = {}) {
  const consumer = kafka.consumer({ groupId, readUncommitted, ...prompt })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  const taken = []
  await consumer.run({ eachMessage: async ({ message }) => void taken.push(message) })
  for (const end = Date.now() + seconds * 1000; taken.length < count && Date.now() < end; ) await pause(50)
  await pause(1000)
  await consumer.disconnect()
  return taken
}

const text = value => (value === null ? null : value.toString())

await admin.connect()
console.log('# kafkajs')

await check('create', async () => {
  await create(run, 3)
  const { topics } = await admin.fetchTopicMetadata({ topics: [run] })
  assert.equal(topics[0].partitions.length, 3)
  assert.equal(await create(run, 3), false, 'the second create was not refused')
})

await check('codecs', async () => {
  for (const codec of ['None', 'GZIP', 'Snappy', 'ZSTD']) {
    const topic = `${run}-${codec}`
    await create(topic)
    const messages = Array.from({ length: 500 }, (_, i) => ({ key: `k${i}`, value: `v${i}`.repeat(1 + (i % 500)), headers: { h: '1' } }))
    messages.push({ key: null, value: '', headers: {} }, { key: '', value: null, headers: {} })
    await produce(topic, messages, { send: { compression: CompressionTypes[codec] } })
    const back = await take(topic, messages.length)
    assert.deepEqual(
      back.map(m => [text(m.key), text(m.value), Object.entries(m.headers).map(([k, v]) => [k, text(v)])]),
      messages.map(m => [m.key, m.value, Object.entries(m.headers)]),
      codec,
    )
    assert.deepEqual(back.map(m => m.offset), messages.map((_, i) => String(i)), `${codec} offsets`)
  }
})

await check('idempotent', async () => {
  const topic = `${run}-idempotent`
  await create(topic)
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  for (let i = 0; i < 100; i++) {
    await producer.send({ topic, messages: Array.from({ length: 20 }, (_, j) => ({ value: String(i * 20 + j) })) })
  }
  await producer.disconnect()
  assert.deepEqual((await take(topic, 2000)).map(m => Number(m.value)), Array.from({ length: 2000 }, (_, i) => i))
})

await check('by-time', async () => {
  const topic = `${run}-time`
  await create(topic)
  const now = Date.now() - 100_000
  for (let i = 0; i < 5; i++) await produce(topic, [{ value: 'v', timestamp: String(now + i * 1000) }])
  assert.equal((await admin.fetchTopicOffsetsByTimestamp(topic, now + 1500))[0].offset, '2')
})

await check('group', async () => {
  const topic = `${run}-group`
  const groupId = topic
  await create(topic, 4)
  for (let partition = 0; partition < 4; partition++) {
    await produce(topic, Array.from({ length: 100 }, (_, i) => ({ partition, value: String(partition * 100 + i) })))
  }
  const seen = new Set()
  const shares = new Map()
  const join = async name => {
    const consumer = kafka.consumer({ groupId, heartbeatInterval: 300, ...prompt })
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => shares.set(name, payload.memberAssignment[topic]?.length ?? 0))
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    await consumer.run({ eachMessage: async ({ message }) => void seen.add(text(message.value)) })
    return consumer
  }
  const members = [await join('first'), await join('second')]
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(100)) {
    if (shares.get('first') === 2 && shares.get('second') === 2 && seen.size === 400) break
  }
  assert.deepEqual([shares.get('first'), shares.get('second'), seen.size], [2, 2, 400])
  for (const member of members) await member.disconnect()
  await produce(topic, [{ partition: 2, value: 'later' }])
  assert.deepEqual((await take(topic, 1, { groupId })).map(m => text(m.value)), ['later'])
})

await check('transactions', async () => {
  const topic = `${run}-transactions`
  await create(topic)
  const producer = kafka.producer({ transactionalId: run, idempotent: true, maxInFlightRequests: 1 })
  await producer.connect()
  for (const [value, commits] of [['a', true], ['b', false], ['c', true]]) {
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: [{ value }] })
    await (commits ? transaction.commit() : transaction.abort())
  }
  await producer.disconnect()
  assert.deepEqual((await take(topic, 2)).map(m => text(m.value)), ['a', 'c'])
  assert.deepEqual((await take(topic, 3, { readUncommitted: true })).map(m => text(m.value)), ['a', 'b', 'c'])
})

await check('delete', async () => {
  const topic = `${run}-time`
  await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] })
  assert.equal((await admin.fetchTopicOffsets(topic))[0].low, '3')
  await admin.deleteTopics({ topics: [topic] })
  for (const end = Date.now() + 20_000; (await admin.listTopics()).includes(topic); await pause(100)) {
    assert.ok(Date.now() < end, 'the topic goes')
  }
})

await admin.disconnect()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
