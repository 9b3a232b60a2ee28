#!/usr/bin/env python3
"""confluent-kafka's idempotent producer at a steady rate. Usage: confluent_load.py BOOTSTRAP TOPIC NAME RECORDS PER_SECOND

Record n goes to partition n modulo the topic's number of them; its value is NAME-n. Prints ACK n partition offset, or FAIL n why, for each.
"""

import sys
import time

from confluent_kafka import Producer

bootstrap, topic, name, records, per_second = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])


def told(n):
    def tell(error, message):
        print(f"FAIL {n} {error}" if error else f"ACK {n} {message.partition()} {message.offset()}")

    return tell


producer = Producer(
    {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 2, "reconnect.backoff.max.ms": 200}
)
partitions = len(producer.list_topics(topic, 60).topics[topic].partitions)
began = time.monotonic()
for n in range(records):
    producer.produce(topic, f"{name}-{n}", partition=n % partitions, on_delivery=told(n))
    producer.poll(max(0.0, began + n / per_second - time.monotonic()))
sys.exit(1 if producer.flush(180) else 0)
