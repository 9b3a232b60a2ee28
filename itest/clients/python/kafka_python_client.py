#!/usr/bin/env python3
"""kafka-python as its users use it. Usage: kafka_python_client.py BOOTSTRAP"""

import sys
import time
import uuid

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import TopicAlreadyExistsError

from checks import Checks, expect

BOOTSTRAP = sys.argv[1]
RUN = f"kafka-python-{uuid.uuid4().hex[:8]}"
admin = KafkaAdminClient(bootstrap_servers=BOOTSTRAP)


def create(topic, partitions=1):
    admin.create_topics([NewTopic(topic, partitions, -1)])


def produce(topic, records, **config):
    """Writes (partition, key, value, headers, timestamp) tuples and insists that each is acknowledged."""
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP, acks="all", **config)
    sent = [
        producer.send(topic, value, key, headers, partition, timestamp)
        for partition, key, value, headers, timestamp in records
    ]
    producer.flush(60)
    for future in sent:
        future.get(30)
    producer.close()


def consumer(group=None, **config):
    return KafkaConsumer(
        bootstrap_servers=BOOTSTRAP,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **config,
    )


def take(reader, count, seconds=30):
    taken, deadline = [], time.monotonic() + seconds
    while len(taken) < count and (left := deadline - time.monotonic()) > 0:
        # One long poll: kafka-python 3.0.12 loses its assignment when a poll's time is over just as the group has been joined.
        for messages in reader.poll(left * 1000).values():
            taken += messages
    return taken


def read_all(topic, count, **config):
    reader = consumer(**config)
    partition = TopicPartition(topic, 0)
    reader.assign([partition])
    reader.seek_to_beginning(partition)
    try:
        return take(reader, count) + take(reader, 1, seconds=1)
    finally:
        reader.close()


def check_create():
    create(RUN, 3)
    expect(len(admin.describe_topics([RUN])[0]["partitions"]), 3, "partitions")
    try:
        create(RUN, 3)
    except TopicAlreadyExistsError:
        pass
    else:
        raise AssertionError("the second create was not refused")


def check_codecs():
    for codec in (None, "gzip", "snappy", "lz4", "zstd"):
        topic = f"{RUN}-{codec}"
        create(topic)
        written = [(0, f"k{i}".encode(), f"v{i}".encode() * (1 + i % 500), [("h", b"1")], None) for i in range(500)]
        written += [(0, None, b"", [], None), (0, b"", None, [], None)]
        produce(topic, written, compression_type=codec, linger_ms=20)
        back = read_all(topic, len(written))
        expect(
            [(m.key, m.value, list(m.headers)) for m in back],
            [(key, value, headers) for _, key, value, headers, _ in written],
            str(codec),
        )
        expect([m.offset for m in back], list(range(len(written))), f"{codec} offsets")


def check_idempotent():
    topic = f"{RUN}-idempotent"
    create(topic)
    produce(topic, [(0, None, str(i).encode(), [], None) for i in range(2000)], enable_idempotence=True)
    expect([int(m.value) for m in read_all(topic, 2000)], list(range(2000)), "values in order")


def check_by_time():
    topic = f"{RUN}-time"
    create(topic)
    now = int(time.time() * 1000) - 100_000
    for i in range(5):
        produce(topic, [(0, None, b"v", [], now + i * 1000)])
    reader = consumer()
    partition = TopicPartition(topic, 0)
    expect(reader.offsets_for_times({partition: now + 1500})[partition].offset, 2, "first at or after")
    expect(reader.offsets_for_times({partition: now + 90_000})[partition], None, "none")
    reader.close()


def check_group():
    topic, group = f"{RUN}-group", f"{RUN}-group"
    create(topic, 4)
    produce(topic, [(i % 4, None, str(i).encode(), [], None) for i in range(400)])
    first = consumer(group)
    first.subscribe([topic])
    expect(len({m.value for m in take(first, 400)}), 400, "different records")
    expect(len(first.assignment()), 4, "partitions of the only member")
    first.commit()
    first.close()
    produce(topic, [(2, None, b"later", [], None)])
    second = consumer(group)
    second.subscribe([topic])
    expect([m.value for m in take(second, 1) + take(second, 1, 2)], [b"later"], "after the commit")
    second.close()


def check_transactions():
    topic = f"{RUN}-transactions"
    create(topic)
    producer = KafkaProducer(bootstrap_servers=BOOTSTRAP, transactional_id=RUN)
    producer.init_transactions()
    for value, commits in ((b"a", True), (b"b", False), (b"c", True)):
        producer.begin_transaction()
        producer.send(topic, value, partition=0)
        producer.flush()
        (producer.commit_transaction if commits else producer.abort_transaction)()
    producer.close()
    committed = read_all(topic, 2, isolation_level="read_committed")
    expect([m.value for m in committed], [b"a", b"c"], "read_committed")
    everything = read_all(topic, 3, isolation_level="read_uncommitted")
    expect([m.value for m in everything], [b"a", b"b", b"c"], "read_uncommitted")


def check_delete():
    topic = f"{RUN}-time"
    partition = TopicPartition(topic, 0)
    admin.delete_records({partition: 3})
    reader = consumer()
    expect(reader.beginning_offsets([partition])[partition], 3, "log start")
    reader.close()
    admin.delete_topics([topic])
    deadline = time.monotonic() + 20
    while topic in admin.list_topics():
        expect(time.monotonic() < deadline, True, "the topic goes")


checks = Checks(f"kafka-python {kafka.__version__}")
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
