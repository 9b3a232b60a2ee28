#!/usr/bin/env python3
"""kafka-python's idempotent producer at a steady rate. Usage: kafka_python_load.py BOOTSTRAP TOPIC NAME RECORDS PER_SECOND

Record n goes to partition n modulo the topic's number of them; its value is NAME-n. Prints ACK n partition offset, or FAIL n why, for each.
"""

import sys
import time

from kafka import KafkaProducer

bootstrap, topic, name, records, per_second = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
producer = KafkaProducer(
    bootstrap_servers=bootstrap.split(","), enable_idempotence=True, linger_ms=2, reconnect_backoff_max_ms=200
)
partitions = len(producer.partitions_for(topic))
began = time.monotonic()
sent = []
for n in range(records):
    sent.append(producer.send(topic, f"{name}-{n}".encode(), partition=n % partitions))
    time.sleep(max(0.0, began + n / per_second - time.monotonic()))
producer.flush(180)
for n, future in enumerate(sent):
    try:
        told = future.get(1)
        print(f"ACK {n} {told.partition} {told.offset}")
    except Exception as trouble:  # noqa: BLE001 - whatever it is, the record was not acknowledged
        print(f"FAIL {n} {trouble!r}")
