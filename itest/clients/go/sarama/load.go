package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// load writes at a steady rate: record n, of the value NAME-n, to partition n modulo the topic's number of them. It prints ACK n partition
// offset, or FAIL n why, for each.
func load(topic, name string, records, perSecond int) error {
	topics, err := admin.DescribeTopics([]string{topic})
	if err != nil {
		return err
	}
	partitions := len(topics[0].Partitions)
	p, err := sarama.NewAsyncProducer(bootstrap, config(idempotent, func(c *sarama.Config) {
		c.Producer.Flush.Frequency = 2 * time.Millisecond
		c.Producer.Retry.Max = 1000
	}))
	if err != nil {
		return err
	}
	told := make(chan bool)
	var unanswered sync.WaitGroup
	go func() {
		for m := range p.Successes() {
			fmt.Println("ACK", m.Metadata, m.Partition, m.Offset)
			unanswered.Done()
		}
		told <- true
	}()
	go func() {
		for e := range p.Errors() {
			fmt.Println("FAIL", e.Msg.Metadata, e.Err)
			unanswered.Done()
		}
		told <- true
	}()
	began := time.Now()
	for n := 0; n < records; n++ {
		unanswered.Add(1)
		p.Input() <- &sarama.ProducerMessage{Topic: topic, Partition: int32(n % partitions), Metadata: n,
			Value: sarama.StringEncoder(name + "-" + strconv.Itoa(n))}
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / time.Duration(perSecond))))
	}
	// A producer that is being closed gives up what it would have to send again.
	unanswered.Wait()
	p.AsyncClose()
	<-told
	<-told
	return nil
}

func loadFromArguments() {
	records, _ := strconv.Atoi(os.Args[5])
	perSecond, _ := strconv.Atoi(os.Args[6])
	if err := load(os.Args[3], os.Args[4], records, perSecond); err != nil {
		fmt.Println("FAIL", err)
		os.Exit(1)
	}
}
