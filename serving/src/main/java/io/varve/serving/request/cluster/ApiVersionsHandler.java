package io.varve.serving.request.cluster;

import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.session.ClientSession.Software;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.ApiVersionsResponseData.ApiVersion;
import org.apache.kafka.common.message.ApiVersionsResponseData.FinalizedFeatureKey;
import org.apache.kafka.common.message.ApiVersionsResponseData.SupportedFeatureKey;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiVersionsRequest;
import org.apache.kafka.common.requests.ApiVersionsResponse;

/**
 * ApiVersions. A version that is newer than ours is answered in version 0 with error 35 and the list (never a null one), and the connection
 * stays open, so that the client can ask again (C1 of the user reports).
 */
public final class ApiVersionsHandler {

    private static final short ZERO_LEVELS_VERSION = 4;
    private static final short CLUSTER_CHECK_VERSION = 5;

    private final BrokerServices broker;

    /** @param broker surroundings */
    public ApiVersionsHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public Answer handle(ClientRequest request) {
        ApiVersionsRequest body = (ApiVersionsRequest) request.parsed().body();
        if (body.hasUnsupportedRequestVersion()) {
            return Answer.of(
                    new ApiVersionsResponse(versions((short) 0).setErrorCode(Errors.UNSUPPORTED_VERSION.code())));
        }
        if (!body.isValid()) {
            return Answer.of(body.getErrorResponse(0, Errors.INVALID_REQUEST.exception()));
        }
        ApiVersionsRequestData data = body.data();
        if (request.version() >= CLUSTER_CHECK_VERSION && isMeantForAnother(data)) {
            return Answer.of(body.getErrorResponse(0, Errors.REBOOTSTRAP_REQUIRED.exception()));
        }
        if (!data.clientSoftwareName().isEmpty()) {
            request.session().setSoftware(new Software(data.clientSoftwareName(), data.clientSoftwareVersion()));
        }
        return Answer.of(new ApiVersionsResponse(versions(request.version())));
    }

    /** Whether the client believes that it speaks with another cluster or another broker. */
    private boolean isMeantForAnother(ApiVersionsRequestData data) {
        boolean otherCluster = data.clusterId() != null
                && !data.clusterId().equals(broker.view().clusterId());
        boolean otherBroker =
                data.nodeId() >= 0 && data.nodeId() != broker.settings().brokerId();
        return otherCluster || otherBroker;
    }

    private static ApiVersionsResponseData versions(short version) {
        ApiVersionsResponseData data = new ApiVersionsResponseData();
        for (ApiKeys api : SupportedApis.served().keySet()) {
            SupportedApis.Range range = SupportedApis.advertised(api);
            data.apiKeys()
                    .add(new ApiVersion()
                            .setApiKey(api.id)
                            .setMinVersion(range.least())
                            .setMaxVersion(range.most()));
        }
        for (Features.Feature feature : Features.ALL) {
            // Clients of earlier versions can't read a lowest level of 0.
            if (feature.least() > 0 || version >= ZERO_LEVELS_VERSION) {
                data.supportedFeatures()
                        .add(new SupportedFeatureKey()
                                .setName(feature.name())
                                .setMinVersion(feature.least())
                                .setMaxVersion(feature.most()));
            }
            if (feature.most() > 0) {
                data.finalizedFeatures()
                        .add(new FinalizedFeatureKey()
                                .setName(feature.name())
                                .setMinVersionLevel(feature.most())
                                .setMaxVersionLevel(feature.most()));
            }
        }
        return data.setFinalizedFeaturesEpoch(0);
    }
}
