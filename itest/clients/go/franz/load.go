package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// load writes at a steady rate: record n, of the value NAME-n, to partition n modulo the topic's number of them. It prints ACK n partition
// offset, or FAIL n why, for each.
func load(topic, name string, records, perSecond int) error {
	topics, err := admin.ListTopics(ctx, topic)
	if err != nil {
		return err
	}
	partitions := len(topics[topic].Partitions)
	p := client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(topic),
		kgo.ProducerLinger(2*time.Millisecond)) // idempotent unless told otherwise
	defer p.Close()
	began := time.Now()
	for n := 0; n < records; n++ {
		r := kgo.StringRecord(name + "-" + strconv.Itoa(n))
		r.Partition = int32(n % partitions)
		p.Produce(ctx, r, func(told *kgo.Record, err error) {
			if err != nil {
				fmt.Println("FAIL", n, err)
			} else {
				fmt.Println("ACK", n, told.Partition, told.Offset)
			}
		})
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(perSecond))))
	}
	return p.Flush(ctx)
}

func loadFromArguments() {
	ctx = context.Background()
	records, _ := strconv.Atoi(os.Args[5])
	perSecond, _ := strconv.Atoi(os.Args[6])
	if err := load(os.Args[3], os.Args[4], records, perSecond); err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
}
