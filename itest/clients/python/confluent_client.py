#!/usr/bin/env python3
"""confluent-kafka (librdkafka) as its users use it. Usage: confluent_client.py BOOTSTRAP"""

import sys
import time
import uuid

import confluent_kafka
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from checks import Checks, expect

BOOTSTRAP = sys.argv[1]
RUN = f"confluent-{uuid.uuid4().hex[:8]}"
admin = AdminClient({"bootstrap.servers": BOOTSTRAP})


def create(topic, partitions=1):
    admin.create_topics([NewTopic(topic, partitions)])[topic].result(30)


def produce(topic, records, **config):
    """Writes (partition, key, value, headers, timestamp) tuples and insists that each is acknowledged."""
    failures = []
    producer = Producer({"bootstrap.servers": BOOTSTRAP, "acks": "all", **config})
    for partition, key, value, headers, timestamp in records:
        producer.produce(
            topic,
            value,
            key,
            partition,
            on_delivery=lambda error, _: failures.append(error) if error else None,
            timestamp=timestamp,
            headers=headers,
        )
        producer.poll(0)
    expect(producer.flush(60), 0, "records left unsent")
    expect(failures, [], "delivery errors")


def consumer(group=None, **config):
    return Consumer(
        {
            "bootstrap.servers": BOOTSTRAP,
            "group.id": group or f"{RUN}-{uuid.uuid4().hex}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            **config,
        }
    )


def take(reader, count, seconds=30):
    taken, deadline = [], time.monotonic() + seconds
    while len(taken) < count and time.monotonic() < deadline:
        message = reader.poll(0.2)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        taken.append(message)
    return taken


def read_all(topic, count, **config):
    reader = consumer(**config)
    reader.assign([TopicPartition(topic, 0, 0)])
    try:
        return take(reader, count) + take(reader, 1, seconds=1)
    finally:
        reader.close()


def check_create():
    create(RUN, 3)
    expect(len(admin.list_topics(RUN, 10).topics[RUN].partitions), 3, "partitions")
    try:
        create(RUN, 3)
    except KafkaException as refusal:
        expect(refusal.args[0].name(), "TOPIC_ALREADY_EXISTS", "second create")
    else:
        raise AssertionError("the second create was not refused")


def check_codecs():
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        topic = f"{RUN}-{codec}"
        create(topic)
        written = [(0, f"k{i}".encode(), f"v{i}".encode() * (1 + i % 500), [("h", b"1")], 0) for i in range(1000)]
        written += [(0, None, b"", [], 0), (0, b"", None, [], 0)]
        produce(topic, written, **{"compression.type": codec, "linger.ms": 20})
        back = read_all(topic, len(written))
        expect(
            [(m.key(), m.value(), m.headers() or []) for m in back],
            [(key, value, headers) for _, key, value, headers, _ in written],
            codec,
        )
        expect([m.offset() for m in back], list(range(len(written))), f"{codec} offsets")


def check_idempotent():
    topic = f"{RUN}-idempotent"
    create(topic)
    produce(topic, [(0, None, str(i).encode(), [], 0) for i in range(5000)], **{"enable.idempotence": True})
    expect([int(m.value()) for m in read_all(topic, 5000)], list(range(5000)), "values in order")


def check_by_time():
    topic = f"{RUN}-time"
    create(topic)
    now = int(time.time() * 1000) - 100_000
    for i in range(5):
        produce(topic, [(0, None, b"v", [], now + i * 1000)])
    reader = consumer()
    found = reader.offsets_for_times([TopicPartition(topic, 0, now + 1500)], 10)
    expect(found[0].offset, 2, "first at or after")
    found = reader.offsets_for_times([TopicPartition(topic, 0, now + 90_000)], 10)
    expect(found[0].offset, confluent_kafka.OFFSET_END, "none")
    reader.close()


def check_group():
    topic, group = f"{RUN}-group", f"{RUN}-group"
    create(topic, 4)
    produce(topic, [(i % 4, None, str(i).encode(), [], 0) for i in range(400)])
    first, second = consumer(group), consumer(group)
    seen = []
    first.subscribe([topic])
    seen += take(first, 1)
    second.subscribe([topic])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        seen += take(first, 1, 0.2) + take(second, 1, 0.2)
        if len(first.assignment()) == 2 and len(second.assignment()) == 2 and len({m.value() for m in seen}) == 400:
            break
    expect((len(first.assignment()), len(second.assignment())), (2, 2), "partitions of each member")
    expect(len({m.value() for m in seen}), 400, "different records")
    first.commit(asynchronous=False)
    second.commit(asynchronous=False)
    first.close()
    second.close()
    produce(topic, [(2, None, b"later", [], 0)])
    third = consumer(group)
    third.subscribe([topic])
    expect([m.value() for m in take(third, 1) + take(third, 1, 2)], [b"later"], "after the commit")
    third.close()


def check_transactions():
    topic = f"{RUN}-transactions"
    create(topic)
    producer = Producer({"bootstrap.servers": BOOTSTRAP, "transactional.id": RUN})
    producer.init_transactions(30)
    for value, commits in ((b"a", True), (b"b", False), (b"c", True)):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(30)  # an abort would drop what was not sent yet
        (producer.commit_transaction if commits else producer.abort_transaction)(30)
    committed = read_all(topic, 2, **{"isolation.level": "read_committed"})
    expect([m.value() for m in committed], [b"a", b"c"], "read_committed")
    everything = read_all(topic, 3, **{"isolation.level": "read_uncommitted"})
    expect([m.value() for m in everything], [b"a", b"b", b"c"], "read_uncommitted")


def check_delete():
    topic = f"{RUN}-time"
    admin.delete_records([TopicPartition(topic, 0, 3)])[TopicPartition(topic, 0, 3)].result(30)
    reader = consumer()
    expect(reader.get_watermark_offsets(TopicPartition(topic, 0), 10)[0], 3, "log start")
    reader.close()
    admin.delete_topics([topic])[topic].result(30)
    deadline = time.monotonic() + 20
    while topic in admin.list_topics(timeout=10).topics:
        expect(time.monotonic() < deadline, True, "the topic goes")


checks = Checks(f"confluent-kafka {confluent_kafka.__version__}, librdkafka {confluent_kafka.libversion()[0]}")
for name, check in (
    ("create", check_create),
    ("codecs", check_codecs),
    ("idempotent", check_idempotent),
    ("by-time", check_by_time),
    ("group", check_group),
    ("transactions", check_transactions),
    ("delete", check_delete),
):
    checks.run(name, check)
checks.finish()
