// sarama as its users use it. Usage: sarama BOOTSTRAP, or sarama BOOTSTRAP load TOPIC NAME RECORDS PER_SECOND
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

var (
	bootstrap      = strings.Split(os.Args[1], ",")
	run            = fmt.Sprintf("sarama-%x", time.Now().UnixNano())
	admin          sarama.ClusterAdmin
	passed, failed int
)

func check(name string, body func() error) {
	began := time.Now()
	if err := body(); err != nil {
		failed++
		fmt.Printf("FAIL %s: %v\n", name, err)
		return
	}
	passed++
	fmt.Printf("PASS %s (%d ms)\n", name, time.Since(began).Milliseconds())
}

func config(changes ...func(*sarama.Config)) *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.Producer.Return.Successes = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Producer.Partitioner = sarama.NewManualPartitioner
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	for _, change := range changes {
		change(c)
	}
	return c
}

func create(topic string, partitions int32) error {
	return admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: -1}, false)
}

func idempotent(c *sarama.Config) {
	c.Producer.Idempotent = true
	c.Net.MaxOpenRequests = 1
}

func produce(messages []*sarama.ProducerMessage, changes ...func(*sarama.Config)) error {
	p, err := sarama.NewSyncProducer(bootstrap, config(changes...))
	if err != nil {
		return err
	}
	defer p.Close()
	return p.SendMessages(messages)
}

// readAll reads partition 0 from its start: count records, and a second more for those that should not come.
func readAll(topic string, count int, changes ...func(*sarama.Config)) ([]*sarama.ConsumerMessage, error) {
	c, err := sarama.NewConsumer(bootstrap, config(changes...))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	partition, err := c.ConsumePartition(topic, 0, sarama.OffsetOldest)
	if err != nil {
		return nil, err
	}
	defer partition.Close()
	var taken []*sarama.ConsumerMessage
	deadline := time.After(30 * time.Second)
	for {
		if len(taken) == count {
			deadline = time.After(time.Second)
		}
		select {
		case m := <-partition.Messages():
			taken = append(taken, m)
		case <-deadline:
			return taken, nil
		}
	}
}

func values(messages []*sarama.ConsumerMessage) string {
	var all []string
	for _, m := range messages {
		all = append(all, string(m.Value))
	}
	return strings.Join(all, ",")
}

func checkCreate() error {
	if err := create(run, 3); err != nil {
		return err
	}
	topics, err := admin.DescribeTopics([]string{run})
	if err != nil || len(topics[0].Partitions) != 3 {
		return fmt.Errorf("partitions: %v %v", topics, err)
	}
	if err := create(run, 3); !errors.Is(err, sarama.ErrTopicAlreadyExists) {
		return fmt.Errorf("second create: %v", err)
	}
	return nil
}

func checkCodecs() error {
	codecs := []sarama.CompressionCodec{sarama.CompressionNone, sarama.CompressionGZIP, sarama.CompressionSnappy,
		sarama.CompressionLZ4, sarama.CompressionZSTD}
	for _, codec := range codecs {
		topic := run + "-" + codec.String()
		if err := create(topic, 1); err != nil {
			return err
		}
		var written []*sarama.ProducerMessage
		for i := 0; i < 500; i++ {
			n := strconv.Itoa(i)
			written = append(written, &sarama.ProducerMessage{Topic: topic, Key: sarama.StringEncoder("k" + n),
				Value:   sarama.StringEncoder(strings.Repeat("v"+n, 1+i%500)),
				Headers: []sarama.RecordHeader{{Key: []byte("h"), Value: []byte("1")}}})
		}
		written = append(written, &sarama.ProducerMessage{Topic: topic, Value: sarama.ByteEncoder{}},
			&sarama.ProducerMessage{Topic: topic, Key: sarama.ByteEncoder{}})
		if err := produce(written, func(c *sarama.Config) { c.Producer.Compression = codec }); err != nil {
			return err
		}
		back, err := readAll(topic, len(written))
		if err != nil || len(back) != len(written) {
			return fmt.Errorf("%v: %d records, %v", codec, len(back), err)
		}
		for i, m := range back {
			var key, value []byte
			if written[i].Key != nil {
				key, _ = written[i].Key.Encode()
			}
			if written[i].Value != nil {
				value, _ = written[i].Value.Encode()
			}
			if m.Offset != int64(i) || string(m.Key) != string(key) || string(m.Value) != string(value) ||
				(m.Key == nil) != (written[i].Key == nil) || (m.Value == nil) != (written[i].Value == nil) ||
				len(m.Headers) != len(written[i].Headers) {
				return fmt.Errorf("%v: record %d is %v", codec, i, m)
			}
		}
	}
	return nil
}

func checkIdempotent() error {
	topic := run + "-idempotent"
	if err := create(topic, 1); err != nil {
		return err
	}
	var written []*sarama.ProducerMessage
	var wanted []string
	for i := 0; i < 5000; i++ {
		wanted = append(wanted, strconv.Itoa(i))
		written = append(written, &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(wanted[i])})
	}
	if err := produce(written, idempotent); err != nil {
		return err
	}
	back, err := readAll(topic, len(written))
	if err != nil || values(back) != strings.Join(wanted, ",") {
		return fmt.Errorf("%d records, %v", len(back), err)
	}
	return nil
}

func checkByTime() error {
	topic := run + "-time"
	if err := create(topic, 1); err != nil {
		return err
	}
	now := time.Now().Add(-100 * time.Second).Truncate(time.Millisecond)
	for i := 0; i < 5; i++ {
		m := &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("v"), Timestamp: now.Add(time.Duration(i) * time.Second)}
		if err := produce([]*sarama.ProducerMessage{m}); err != nil {
			return err
		}
	}
	c, err := sarama.NewClient(bootstrap, config())
	if err != nil {
		return err
	}
	defer c.Close()
	if offset, err := c.GetOffset(topic, 0, now.UnixMilli()+1500); err != nil || offset != 2 {
		return fmt.Errorf("first at or after: %d, %v", offset, err)
	}
	return nil
}

// member collects what its group session delivers and commits it when the session ends.
type member struct {
	lock   sync.Mutex
	seen   map[string]bool
	claims int
}

func (m *member) Setup(s sarama.ConsumerGroupSession) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.claims = 0
	for _, partitions := range s.Claims() {
		m.claims += len(partitions)
	}
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m *member) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			m.lock.Lock()
			m.seen[string(message.Value)] = true
			m.lock.Unlock()
			s.MarkMessage(message, "")
		case <-s.Context().Done():
			return nil
		}
	}
}

func (m *member) state() (int, int) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.claims, len(m.seen)
}

// join starts a member; the function it returns makes it leave.
func join(group, topic string) (*member, func() error, error) {
	g, err := sarama.NewConsumerGroup(bootstrap, group, config())
	if err != nil {
		return nil, nil, err
	}
	m := &member{seen: map[string]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			g.Consume(ctx, []string{topic}, m)
		}
	}()
	return m, func() error {
		cancel()
		<-done
		return g.Close()
	}, nil
}

func checkGroup() error {
	topic := run + "-group"
	if err := create(topic, 4); err != nil {
		return err
	}
	var written []*sarama.ProducerMessage
	for i := 0; i < 400; i++ {
		written = append(written, &sarama.ProducerMessage{Topic: topic, Partition: int32(i % 4), Value: sarama.StringEncoder(strconv.Itoa(i))})
	}
	if err := produce(written); err != nil {
		return err
	}
	first, leaveFirst, err := join(topic, topic)
	if err != nil {
		return err
	}
	second, leaveSecond, err := join(topic, topic)
	if err != nil {
		return err
	}
	union := func() int {
		first.lock.Lock()
		defer first.lock.Unlock()
		second.lock.Lock()
		defer second.lock.Unlock()
		all := map[string]bool{}
		for v := range first.seen {
			all[v] = true
		}
		for v := range second.seen {
			all[v] = true
		}
		return len(all)
	}
	claimsFirst, claimsSecond, different := 0, 0, 0
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		claimsFirst, _ = first.state()
		claimsSecond, _ = second.state()
		different = union()
		if claimsFirst == 2 && claimsSecond == 2 && different == 400 {
			break
		}
	}
	if claimsFirst != 2 || claimsSecond != 2 || different != 400 {
		return fmt.Errorf("shares %d and %d, %d different records", claimsFirst, claimsSecond, different)
	}
	if err := errors.Join(leaveFirst(), leaveSecond()); err != nil {
		return err
	}
	later := &sarama.ProducerMessage{Topic: topic, Partition: 2, Value: sarama.StringEncoder("later")}
	if err := produce([]*sarama.ProducerMessage{later}); err != nil {
		return err
	}
	third, leaveThird, err := join(topic, topic)
	if err != nil {
		return err
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if _, n := third.state(); n > 0 {
			break
		}
	}
	time.Sleep(time.Second)
	if _, n := third.state(); n != 1 || !third.seen["later"] {
		return fmt.Errorf("after the commit: %d records", n)
	}
	return leaveThird()
}

func checkTransactions() error {
	topic := run + "-transactions"
	if err := create(topic, 1); err != nil {
		return err
	}
	p, err := sarama.NewAsyncProducer(bootstrap, config(idempotent, func(c *sarama.Config) { c.Producer.Transaction.ID = run }))
	if err != nil {
		return err
	}
	defer p.Close()
	for _, step := range []struct {
		value string
		end   func() error
	}{{"a", p.CommitTxn}, {"b", p.AbortTxn}, {"c", p.CommitTxn}} {
		if err := p.BeginTxn(); err != nil {
			return err
		}
		p.Input() <- &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(step.value)}
		select {
		case <-p.Successes():
		case err := <-p.Errors():
			return err
		}
		if err := step.end(); err != nil {
			return err
		}
	}
	committed, err := readAll(topic, 2, func(c *sarama.Config) { c.Consumer.IsolationLevel = sarama.ReadCommitted })
	if err != nil || values(committed) != "a,c" {
		return fmt.Errorf("read_committed: %s, %v", values(committed), err)
	}
	everything, err := readAll(topic, 3)
	if err != nil || values(everything) != "a,b,c" {
		return fmt.Errorf("read_uncommitted: %s, %v", values(everything), err)
	}
	return nil
}

func checkDelete() error {
	topic := run + "-time"
	if err := admin.DeleteRecords(topic, map[int32]int64{0: 3}); err != nil {
		return err
	}
	c, err := sarama.NewClient(bootstrap, config())
	if err != nil {
		return err
	}
	defer c.Close()
	if start, err := c.GetOffset(topic, 0, sarama.OffsetOldest); err != nil || start != 3 {
		return fmt.Errorf("log start: %d, %v", start, err)
	}
	if err := admin.DeleteTopic(topic); err != nil {
		return err
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		topics, err := admin.ListTopics()
		if err != nil {
			return err
		}
		if _, there := topics[topic]; !there {
			return nil
		}
	}
	return errors.New("the topic does not go")
}

func main() {
	var err error
	if admin, err = sarama.NewClusterAdmin(bootstrap, config()); err != nil {
		fmt.Println("FAIL connect:", err)
		os.Exit(1)
	}
	if len(os.Args) > 2 && os.Args[2] == "load" {
		loadFromArguments()
		return
	}
	fmt.Println("# sarama")
	check("create", checkCreate)
	check("codecs", checkCodecs)
	check("idempotent", checkIdempotent)
	check("by-time", checkByTime)
	check("group", checkGroup)
	check("transactions", checkTransactions)
	check("delete", checkDelete)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
